//! Tokens: the module that reaches them, the login, and the sessions.

use super::uri::Pkcs11Uri;
use crate::SignError;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Modules, initialised once per process and kept: PKCS#11 has one state per process, and other keys may use it.
static MODULES: Mutex<Vec<(PathBuf, Pkcs11)>> = Mutex::new(Vec::new());

/// A token that the user is logged in to.
pub(super) struct Token {
    module: Pkcs11,
    slot: Slot,
    /// Sessions that no thread uses now. There is one for each thread that signs at once: they are not for use by
    /// several. Ours is never the last one to close while the key is in use, which would log out.
    idle: Mutex<Vec<Session>>,
    returned: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Token {
    /// Loads the module, finds the one token that `uri` names, and logs in.
    pub fn open(uri: &Pkcs11Uri) -> Result<Self, SignError> {
        let path = uri.module();
        let module = load(&path).map_err(|error| SignError::Pkcs11Module {
            module: path,
            what: reason(&error),
        })?;
        let (slot, info) = find(&module, uri)?;
        let session = module
            .open_ro_session(slot)
            .map_err(|error| fault(uri, "opening a session", &error))?;
        log_in(&session, &info, uri)?;
        Ok(Self {
            module,
            slot,
            idle: Mutex::new(vec![session]),
            returned: Condvar::new(),
        })
    }

    /// Calls `work` with a session that no other thread uses meanwhile.
    pub fn with_session<T>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let session = self.take()?;
        let result = work(&session);
        locked(&self.idle).push(session);
        self.returned.notify_one();
        result
    }

    fn take(&self) -> Result<Session, Error> {
        if let Some(session) = locked(&self.idle).pop() {
            return Ok(session);
        }
        match self.module.open_ro_session(self.slot) {
            // The token has no more: wait for one of those that this key has.
            Err(Error::Pkcs11(RvError::SessionCount, _)) => {
                let mut idle = locked(&self.idle);
                loop {
                    match idle.pop() {
                        Some(session) => return Ok(session),
                        None => {
                            idle = self
                                .returned
                                .wait(idle)
                                .unwrap_or_else(PoisonError::into_inner);
                        }
                    }
                }
            }
            opened => opened,
        }
    }

    /// Opens a session that may change the token.
    pub fn writing_session(&self) -> Result<Session, Error> {
        self.module.open_rw_session(self.slot)
    }
}

fn load(path: &Path) -> Result<Pkcs11, Error> {
    let mut modules = locked(&MODULES);
    if let Some((_, module)) = modules.iter().find(|(known, _)| known == path) {
        return Ok(module.clone());
    }
    let module = Pkcs11::new(path)?;
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
        Err(error) => return Err(error),
    }
    modules.push((path.to_path_buf(), module.clone()));
    Ok(module)
}

fn find(module: &Pkcs11, uri: &Pkcs11Uri) -> Result<(Slot, TokenInfo), SignError> {
    let failed = |error: Error| fault(uri, "listing the tokens", &error);
    let mut all = Vec::new();
    for slot in module.get_slots_with_token().map_err(failed)? {
        let info = module.get_token_info(slot).map_err(failed)?;
        if info.token_initialized() {
            all.push((slot, info));
        }
    }
    let labels: Vec<String> = all
        .iter()
        .map(|(_, info)| info.label().trim_end().to_owned())
        .collect();
    let mut matching = all
        .into_iter()
        .filter(|(slot, info)| is_meant(uri, *slot, info));
    match (matching.next(), matching.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => Err(SignError::Pkcs11 {
            uri: uri.to_string(),
            what: "several tokens match".into(),
            hint: "name one by token=LABEL or serial=NUMBER",
        }),
        (None, _) => Err(SignError::Pkcs11 {
            uri: uri.to_string(),
            what: match labels.is_empty() {
                true => "the module has no token".into(),
                false => format!("no token matches; there are: {}", labels.join(", ")),
            },
            hint: "name one of the module's tokens by token=LABEL",
        }),
    }
}

fn is_meant(uri: &Pkcs11Uri, slot: Slot, info: &TokenInfo) -> bool {
    let matches = |wanted: &Option<String>, found: &str| {
        wanted
            .as_deref()
            .is_none_or(|wanted| wanted == found.trim_end())
    };
    matches(&uri.token, info.label())
        && matches(&uri.serial, info.serial_number())
        && matches(&uri.manufacturer, info.manufacturer_id())
        && matches(&uri.model, info.model())
        && uri.slot_id.is_none_or(|wanted| wanted == slot.id())
}

fn log_in(session: &Session, info: &TokenInfo, uri: &Pkcs11Uri) -> Result<(), SignError> {
    let pin = uri.pin()?;
    if pin.is_none() && !info.protected_authentication_path() {
        if !info.login_required() {
            return Ok(());
        }
        return Err(SignError::Pkcs11 {
            uri: uri.to_string(),
            what: "the token wants a PIN".into(),
            hint: "add ?pin-source=FILE to the URI",
        });
    }
    match session.login(UserType::User, pin.as_ref()) {
        Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(()),
        Err(error) => Err(fault(uri, "logging in", &error)),
    }
}

/// What the token refused, as an error about `uri`.
pub(super) fn fault(uri: &Pkcs11Uri, doing: &str, error: &Error) -> SignError {
    SignError::Pkcs11 {
        uri: uri.to_string(),
        what: format!("{doing} failed: {}", reason(error)),
        hint: "check the token and the PIN with the tools of its maker",
    }
}

/// The library's reason in a few words.
pub(super) fn reason(error: &Error) -> String {
    let known = match error {
        Error::Pkcs11(RvError::PinIncorrect, _) => "the PIN is wrong",
        Error::Pkcs11(RvError::PinLocked, _) => "the PIN is locked after too many wrong ones",
        Error::Pkcs11(RvError::PinLenRange | RvError::PinInvalid, _) => {
            "the PIN is not one that the token can have"
        }
        Error::Pkcs11(RvError::UserPinNotInitialized, _) => "the token has no PIN for users yet",
        Error::Pkcs11(RvError::MechanismInvalid | RvError::MechanismParamInvalid, _) => {
            "the token cannot do this with keys of this kind"
        }
        Error::Pkcs11(RvError::TokenWriteProtected, _) => "the token is write-protected",
        Error::Pkcs11(RvError::DeviceRemoved | RvError::TokenNotPresent, _) => {
            "the token was taken away"
        }
        Error::LibraryLoading(error) => return error.to_string(),
        _ => {
            // Explanations of the standard, several sentences each.
            let words = error.to_string();
            let first = words.split(". ").next().unwrap_or_default();
            return first.trim_end_matches('.').to_owned();
        }
    };
    known.to_owned()
}
