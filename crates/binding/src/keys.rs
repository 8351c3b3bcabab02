//! `_core.KeySet`, and DS records.

use crate::arguments::parse_name;
use crate::doorway::abandonable;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_sign::{
    Algorithm, DigestType, Dnskey, KeyDirectory, KeyPair, KeyTags, KeyTiming, Pkcs11Uri, Role,
    TimingEvent, read_dnskeys,
};
use dnsrig_zone::{Name, PresentationName, PresentationRecord};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// Times by the names of events in BIND's key files, in seconds since 1970; `None` unsets one.
type Times = BTreeMap<String, Option<u64>>;

/// The keys of a zone, all with different tags.
#[pyclass(module = "dnsrig._core")]
pub struct KeySet {
    pub(crate) keys: Vec<KeyPair>,
}

#[pymethods]
impl KeySet {
    /// Makes a set without keys.
    #[new]
    fn new() -> Self {
        Self { keys: Vec::new() }
    }

    /// Makes a key for `origin` and adds it. `role` is `ksk` or `zsk`; `bits` is for RSA. Its tag is none of those of
    /// the set's other keys and of the zone's keys in `folder`. `timing` changes times by event (`Publish`, ...);
    /// `pkcs11` is the URI under which the key is to be in a token.
    #[pyo3(signature = (origin, algorithm, bits, role, *, folder=None, timing=None, ttl_s=None, pkcs11=None, allow_sha1=false))]
    #[allow(clippy::too_many_arguments)]
    fn generate(
        &mut self,
        py: Python<'_>,
        origin: &str,
        algorithm: &str,
        bits: Option<u32>,
        role: &str,
        folder: Option<PathBuf>,
        timing: Option<Times>,
        ttl_s: Option<u32>,
        pkcs11: Option<&str>,
        allow_sha1: bool,
    ) -> PyResult<()> {
        let origin = parse_name(origin)?;
        let algorithm = Algorithm::from_str(algorithm).or_raise()?;
        algorithm.check_sha1(allow_sha1).or_raise()?;
        let role = parse_role(role)?;
        let taken = self.taken(folder, &origin)?;
        let uri = pkcs11.map(Pkcs11Uri::parse).transpose().or_raise()?;
        let made = match uri {
            None => abandonable(py, move || {
                KeyPair::generate_apart(&origin, algorithm, bits, role, &taken)
            })?,
            // What a token does is waited for, lest a key stays in it that nobody was told of.
            Some(uri) => py.detach(|| {
                KeyPair::generate_in_token(&uri, &origin, algorithm, bits, role, &taken)
            }),
        };
        self.add(made.or_raise()?, timing, ttl_s)
    }

    /// Adds the key for `origin` that a token has already under the name `pkcs11`; without `algorithm` its kind says it.
    #[pyo3(signature = (origin, pkcs11, role, *, algorithm=None, folder=None, timing=None, ttl_s=None, allow_sha1=false))]
    #[allow(clippy::too_many_arguments)]
    fn read_token(
        &mut self,
        py: Python<'_>,
        origin: &str,
        pkcs11: &str,
        role: &str,
        algorithm: Option<&str>,
        folder: Option<PathBuf>,
        timing: Option<Times>,
        ttl_s: Option<u32>,
        allow_sha1: bool,
    ) -> PyResult<()> {
        let origin = parse_name(origin)?;
        let uri = Pkcs11Uri::parse(pkcs11).or_raise()?;
        let role = parse_role(role)?;
        let algorithm = algorithm.map(Algorithm::from_str).transpose().or_raise()?;
        if let Some(algorithm) = algorithm {
            algorithm.check_sha1(allow_sha1).or_raise()?;
        }
        let taken = self.taken(folder, &origin)?;
        let found = py.detach(|| KeyPair::from_token(&uri, &origin, algorithm, role, &taken));
        self.add(found.or_raise()?, timing, ttl_s)
    }

    /// Reads a key from its pair of BIND key files and adds it; `path` is that of either file, or without suffix. A key
    /// that the set has already is left out. With `role` it signs what that role signs, whatever its SEP flag says.
    #[pyo3(signature = (path, role=None))]
    fn read(&mut self, py: Python<'_>, path: PathBuf, role: Option<&str>) -> PyResult<()> {
        let role = role.map(parse_role).transpose()?;
        let key = py.detach(|| KeyPair::read(&path)).or_raise()?;
        let is_same = |other: &KeyPair| other.public() == key.public();
        if !self.keys.iter().any(is_same) {
            self.keys.push(match role {
                Some(role) => key.with_role(role),
                None => key,
            });
        }
        Ok(())
    }

    /// Makes the same data have the same signature from now on (RFC 6979); fails if a key, in a token, cannot.
    fn make_deterministic(&mut self) -> PyResult<()> {
        self.keys
            .iter_mut()
            .try_for_each(KeyPair::make_deterministic)
            .or_raise()
    }

    /// Reads all keys of the zone `origin` in `folder` and adds them. Returns the file names of keys that have no
    /// private key there, without suffix.
    fn read_directory(
        &mut self,
        py: Python<'_>,
        folder: PathBuf,
        origin: &str,
    ) -> PyResult<Vec<String>> {
        let origin = parse_name(origin)?;
        let found = py
            .detach(|| KeyDirectory::read(&folder, &origin))
            .or_raise()?;
        self.keys.extend(found.keys);
        Ok(found
            .public_only
            .iter()
            .map(|key| key.file_stem())
            .collect())
    }

    /// Writes every key as a pair of BIND key files into `folder`; existing files are not overwritten.
    fn write(&self, folder: PathBuf) -> PyResult<()> {
        for key in &self.keys {
            key.write(&folder).or_raise()?;
        }
        Ok(())
    }

    /// Fails unless every key is for the zone `origin`, with the file and line of the one that is not.
    fn check_owner(&self, origin: &str) -> PyResult<()> {
        let origin = parse_name(origin)?;
        self.keys
            .iter()
            .try_for_each(|key| key.check_owner(&origin))
            .or_raise()
    }

    /// Fails unless every key signs at `now_s`, with the file, line and time because of which one does not.
    fn check_active(&self, now_s: u64) -> PyResult<()> {
        self.keys
            .iter()
            .try_for_each(|key| key.check_active(now_s))
            .or_raise()
    }

    /// The file names of the keys without suffix, such as `Kexample.test.+008+12345`.
    #[getter]
    fn file_names(&self) -> Vec<String> {
        self.keys.iter().map(KeyPair::file_stem).collect()
    }

    /// The DS records (SHA-256) of the key-signing keys, for the parent zone.
    #[getter]
    fn ds_records(&self) -> Vec<String> {
        self.keys
            .iter()
            .filter(|key| key.role() == Role::Ksk)
            .map(|key| ds_line(key.public(), DigestType::Sha256, key.ttl_s(), false))
            .collect()
    }

    /// Says of each key its file name, zone, algorithm, tag, the tag it gets when revoked, flags, role, TTL and times;
    /// with `now_s` also whether it is published, active and revoked then.
    #[pyo3(signature = (now_s=None))]
    fn describe<'py>(
        &self,
        py: Python<'py>,
        now_s: Option<u64>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let describe = |key: &KeyPair| {
            let found = description(py, key)?;
            if let Some(now_s) = now_s {
                found.set_item("is_published", key.is_published(now_s))?;
                found.set_item("is_active", key.is_active(now_s))?;
                found.set_item("is_revoked", key.is_revoked(now_s))?;
            }
            Ok(found)
        };
        self.keys.iter().map(describe).collect()
    }

    /// The number of keys.
    fn __len__(&self) -> usize {
        self.keys.len()
    }
}

impl KeySet {
    fn taken(&self, folder: Option<PathBuf>, origin: &Name) -> PyResult<KeyTags> {
        let mut taken = match folder {
            Some(folder) => KeyTags::in_directory(&folder, origin).or_raise()?,
            None => KeyTags::default(),
        };
        for key in &self.keys {
            taken.insert(key.public());
        }
        Ok(taken)
    }

    fn add(&mut self, key: KeyPair, timing: Option<Times>, ttl_s: Option<u32>) -> PyResult<()> {
        let mut times = key.timing().clone();
        for (name, time_s) in timing.unwrap_or_default() {
            set_time(&mut times, &name, time_s)?;
        }
        self.keys.push(key.with_timing(times).with_ttl(ttl_s));
        Ok(())
    }
}

fn set_time(timing: &mut KeyTiming, name: &str, time_s: Option<u64>) -> PyResult<()> {
    let event = TimingEvent::from_name(name).ok_or_else(|| {
        let known = TimingEvent::ALL.map(TimingEvent::name).join(", ");
        exception(
            Kind::Input,
            format!("'{name}' is no event of a key; there are {known}"),
        )
    })?;
    timing.set(event, time_s);
    Ok(())
}

fn parse_role(text: &str) -> PyResult<Role> {
    match text {
        "ksk" => Ok(Role::Ksk),
        "zsk" => Ok(Role::Zsk),
        other => {
            let message = format!("'{other}' is no role of a key; there are ksk and zsk");
            Err(exception(Kind::Input, message))
        }
    }
}

fn description<'py>(py: Python<'py>, key: &KeyPair) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("file_name", key.file_stem())?;
    found.set_item("zone", PresentationName(key.owner()).to_string())?;
    found.set_item("algorithm", key.algorithm().name())?;
    found.set_item("algorithm_number", key.algorithm().number())?;
    found.set_item("tag", key.tag())?;
    found.set_item("revoked_tag", key.public().revoked_tag())?;
    found.set_item("flags", key.flags())?;
    found.set_item(
        "role",
        if key.role() == Role::Ksk {
            "ksk"
        } else {
            "zsk"
        },
    )?;
    found.set_item("ttl_s", key.ttl_s())?;
    let times = PyDict::new(py);
    for (event, time_s) in key.timing().events() {
        times.set_item(event.name(), time_s)?;
    }
    found.set_item("timing", times)?;
    Ok(found)
}

/// Makes the DS records of a `.key` file or of a signed zone's secure entry points, one per key and digest type, or the
/// CDS records; `all_keys` takes every key of a zone.
#[pyfunction]
#[pyo3(signature = (path, digests, *, cds=false, all_keys=false, ttl_s=None))]
pub fn ds_records(
    py: Python<'_>,
    path: PathBuf,
    digests: Vec<String>,
    cds: bool,
    all_keys: bool,
    ttl_s: Option<u32>,
) -> PyResult<Vec<String>> {
    let digests: Result<Vec<DigestType>, _> = digests.iter().map(|text| text.parse()).collect();
    let digests = digests.or_raise()?;
    let keys = py.detach(|| read_dnskeys(&path, all_keys)).or_raise()?;
    let mut lines = Vec::new();
    for key in &keys {
        let ttl_s = ttl_s.or(key.ttl_s());
        lines.extend(
            digests
                .iter()
                .map(|&digest| ds_line(key, digest, ttl_s, cds)),
        );
    }
    Ok(lines)
}

/// The DS or CDS record of `key` on one line; without TTL where nothing says one, as the parent zone decides.
pub(crate) fn ds_line(key: &Dnskey, digest: DigestType, ttl_s: Option<u32>, cds: bool) -> String {
    let ttl = ttl_s.unwrap_or_default();
    let record = match cds {
        true => key.cds(digest, ttl),
        false => key.ds(digest, ttl),
    };
    let line = PresentationRecord(&record).to_string();
    match ttl_s {
        Some(_) => line,
        // Names have their spaces escaped.
        None => line.replacen(" 0 ", " ", 1),
    }
}
