//! `_core.sign_zone` and `_core.verify_zone`.

use crate::arguments::parse_name;
use crate::doorway::detached;
use crate::errors::{Kind, OrRaise, exception, system_error};
use crate::keys::{KeySet, ds_line};
use crate::reading::Reading;
use dnsrig_sign::verify::{Fault, Verification, verify_file};
use dnsrig_sign::zonefile::{
    Chain, Digests, FileSigning, OfflineKey, OtherKeys, Publication, RetiredKey, SerialPolicy,
    SignedFile, key_signing_keys, sign_file, zone_signing_keys,
};
use dnsrig_sign::{DigestType, Dnskey, KeyPair, Nsec3Parameters, Role, SignError, TimingEvent};
use dnsrig_zone::flow::{Changes, Opening, find_apex};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::zonemd::ZonemdHash;
use dnsrig_zone::{PresentationName, ZoneError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a zone is to be signed: the attributes of `dnsrig.signing.Signing`, which explains them.
#[derive(FromPyObject)]
pub struct Signing {
    chain: String,
    iterations: u64,
    salt: String,
    opt_out: bool,
    signs: bool,
    inception: u32,
    expiration: u32,
    keys_expiration: Option<u32>,
    now_s: u64,
    refresh_s: u32,
    jitter_s: u32,
    verifies_kept: bool,
    has_state: bool,
    serial: String,
    dnskey_ttl_s: Option<u32>,
    allows_sha1: bool,
    publishes_cds: bool,
    zonemd: Option<Vec<String>>,
    by_times: bool,
    other_keys: String,
    saves_keys_in: Option<PathBuf>,
    changes: Option<PathBuf>,
    previous: Option<PathBuf>,
}

/// Runs `work` on the zone file `path`, opened as `reading` says.
fn run<T: Send>(
    py: Python<'_>,
    path: PathBuf,
    reading: &Reading<'_>,
    work: impl FnOnce(&mut Opening<'_>, &Pool) -> Result<T, SignError> + Send,
) -> PyResult<T> {
    let result = reading.run(py, &[path], |mut openings, pool| {
        work(&mut openings[0], pool)
    })?;
    match result {
        // Who reads our output may have gone, which the command line treats in its own way.
        Err(SignError::Zone(ZoneError::Write { file, source })) if file == Path::new("-") => {
            Err(system_error(py, source)?)
        }
        other => other.or_raise(),
    }
}

/// Gives the apex of the zone file `path`, of which no more is read than that takes.
#[pyfunction]
#[pyo3(signature = (path, origin=None))]
pub fn zone_apex(py: Python<'_>, path: PathBuf, origin: Option<&str>) -> PyResult<String> {
    let origin = origin.map(parse_name).transpose()?;
    let (apex, raised) = detached(
        py,
        |cancel, _| {
            find_apex(&Opening {
                cancel,
                ..Opening::new(&path, origin.as_ref())
            })
        },
        |()| Ok(()),
    )?;
    raised?;
    let apex = apex.or_raise()?;
    Ok(PresentationName(&apex).to_string())
}

/// Signs the zone file `path` with `keys` and writes it to `target`; `-` is standard input, and output.
#[pyfunction]
pub fn sign_zone<'py>(
    py: Python<'py>,
    path: PathBuf,
    target: PathBuf,
    keys: PyRef<'_, KeySet>,
    signing: Signing,
    reading: Reading<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut parameters = file_signing(&signing)?;
    let mut remarks = Vec::new();
    let keys: Arc<[KeyPair]> = match signing.by_times {
        true => by_times(&keys.keys, signing.now_s, &mut parameters, &mut remarks).or_raise()?,
        false => keys.keys.clone().into(),
    };
    let origin = reading.origin()?;
    let mut signed = run(py, path, &reading, |opening, pool| {
        if let Some(file) = &signing.changes {
            opening.changes = Some(Arc::new(Changes::read(file, origin.as_ref())?));
        }
        sign_file(opening, pool, keys.clone(), &parameters, &target)
    })?;
    signed.remarks.splice(0..0, remarks);
    summary(py, &signed, &keys, &parameters, signing.now_s)
}

fn file_signing(signing: &Signing) -> PyResult<FileSigning> {
    let refused = |what: &str, given: &str, known: &str| {
        exception(
            Kind::Input,
            format!("'{given}' is no {what}; there are {known}"),
        )
    };
    let chain = match signing.chain.as_str() {
        "nsec" => Chain::Nsec,
        "nsec3" => Chain::Nsec3(
            Nsec3Parameters::new(signing.iterations, &signing.salt, signing.opt_out).or_raise()?,
        ),
        "given" => Chain::Given,
        "kept" => Chain::Kept,
        other => return Err(refused("chain", other, "nsec, nsec3, given and kept")),
    };
    let serial = match signing.serial.as_str() {
        "keep" => SerialPolicy::Keep,
        "increment" => SerialPolicy::Increment,
        "unixtime" => SerialPolicy::UnixTime,
        "date" => SerialPolicy::Date,
        other => {
            let known = "keep, increment, unixtime and date";
            return Err(refused("policy for serial numbers", other, known));
        }
    };
    let others = match signing.other_keys.as_str() {
        "stay" => OtherKeys::Stay,
        "go" => OtherKeys::Go,
        "refused" => OtherKeys::Refused,
        other => {
            return Err(refused(
                "way with other keys",
                other,
                "stay, go and refused",
            ));
        }
    };
    let digests = match &signing.zonemd {
        None => Digests::AsInZone,
        Some(names) => {
            let hash = |name: &String| {
                let mut known = [ZonemdHash::Sha384, ZonemdHash::Sha512].into_iter();
                known
                    .find(|hash| hash_name(*hash) == name)
                    .ok_or_else(|| refused("hash of zone digests", name, "sha384 and sha512"))
            };
            Digests::Of(names.iter().map(hash).collect::<PyResult<_>>()?)
        }
    };
    Ok(FileSigning {
        chain,
        signs: signing.signs,
        keys_expiration: signing.keys_expiration,
        jitter_s: signing.jitter_s,
        // Times of signatures wrap around (RFC 4034 section 3.1.5).
        now: signing.now_s as u32,
        refresh_s: signing.refresh_s,
        verifies_kept: signing.verifies_kept,
        has_state: signing.has_state,
        serial,
        dnskey_ttl_s: signing.dnskey_ttl_s,
        allows_sha1: signing.allows_sha1,
        publishes_cds: signing.publishes_cds,
        digests,
        publication: Publication {
            others,
            saves_keys_in: signing.saves_keys_in.clone(),
            ..Publication::default()
        },
        previous: signing.previous.clone(),
        ..FileSigning::new(signing.inception, signing.expiration)
    })
}

/// The keys that sign at `now_s` by their times; what else follows from these is put into `parameters`, and what is to be said of
/// them into `remarks`.
fn by_times(
    keys: &[KeyPair],
    now_s: u64,
    parameters: &mut FileSigning,
    remarks: &mut Vec<String>,
) -> Result<Arc<[KeyPair]>, SignError> {
    let mut active = Vec::new();
    let mut published: Vec<Dnskey> = Vec::new();
    let mut withdrawn: Vec<Dnskey> = Vec::new();
    let mut synchronised: Vec<Dnskey> = Vec::new();
    let last = last_signers(keys, now_s);
    remarks.extend(last.iter().map(|key| {
        format!(
            "{} is inactive, but signs until its DNSKEY record goes, since no other key of its algorithm does (RFC 6840 section 5.11); set its Inactive and Delete to one time (dnsrig settime)",
            key.file_stem()
        )
    }));
    for key in keys {
        let is_synchronised = key.timing().is_synchronised(now_s);
        let key = match key.is_revoked(now_s) {
            true => {
                withdrawn.push(key.public().clone());
                key.clone().into_revoked()
            }
            false => key.clone(),
        };
        match key.is_published(now_s) {
            true => published.push(key.public().clone()),
            // The zone may have it from when it was revoked.
            false => withdrawn.extend([key.public().clone(), key.public().to_revoked()]),
        }
        if is_synchronised {
            synchronised.push(key.public().clone());
        }
        if key.is_active(now_s) || last.iter().any(|last| last.public() == key.public()) {
            active.push(key);
        } else if let Some(until_s) = kept_until_s(&key, now_s) {
            parameters.retired.push(RetiredKey {
                key,
                // As times of signatures are.
                until: until_s as u32,
            });
        }
    }
    // Signatures may come before their key only where the zone has no key of the algorithm yet (RFC 6781 section 4.1.4):
    // else validators would look for them by keys that are not there.
    let is_used = |key: &KeyPair| {
        keys.iter()
            .any(|other| other.algorithm() == key.algorithm() && other.is_published(now_s))
    };
    active.retain(|key| key.is_published(now_s) || !is_used(key));
    if parameters.signs {
        check_active(keys, &active, now_s)?;
    }
    parameters.publication.leaving = last.iter().map(|key| key.public().clone()).collect();
    let has_times = |key: &KeyPair| key.timing().get(TimingEvent::SyncPublish).is_some();
    if keys.iter().any(has_times) && !parameters.publishes_cds {
        parameters.publication.synchronised = Some(synchronised);
    }
    parameters.publication.published = Some(published);
    parameters.publication.withdrawn = withdrawn;
    Ok(active.into())
}

/// The keys of algorithms without active ones that are published still, in a zone that others sign: of each role those that became
/// inactive last. As long as the DNSKEY RRset has an algorithm, everything is to be signed by it (RFC 6840 section 5.11).
fn last_signers(keys: &[KeyPair], now_s: u64) -> Vec<&KeyPair> {
    let signs =
        |key: &KeyPair| key.is_active(now_s) && key.is_published(now_s) && !key.is_revoked(now_s);
    let inactive_s = |key: &KeyPair| {
        let since_s = key.timing().get(TimingEvent::Inactive)?;
        let has_signed = since_s <= now_s && key.is_published(now_s) && !key.is_revoked(now_s);
        has_signed.then_some(since_s)
    };
    let is_last = |key: &&KeyPair| {
        let mut same = keys.iter().filter(|one| one.algorithm() == key.algorithm());
        let mut of_role = same.clone().filter(|one| one.role() == key.role());
        inactive_s(key).is_some_and(|since_s| of_role.all(|one| inactive_s(one) <= Some(since_s)))
            && !same.any(signs)
    };
    match keys.iter().any(signs) {
        true => keys.iter().filter(is_last).collect(),
        false => Vec::new(),
    }
}

/// When the DNSKEY record of a key goes that is published and has signed until now: till then its signatures may stay (RFC 6781
/// section 4.1.1.1). `None` also where no such time is set, so that the key may go at any time.
fn kept_until_s(key: &KeyPair, now_s: u64) -> Option<u64> {
    let inactive_s = key.timing().get(TimingEvent::Inactive)?;
    let has_signed = inactive_s <= now_s && key.is_published(now_s);
    key.timing().get(TimingEvent::Delete).filter(|_| has_signed)
}

/// Refuses to sign where no key signs that the zone shows.
fn check_active(keys: &[KeyPair], active: &[KeyPair], now_s: u64) -> Result<(), SignError> {
    if active.is_empty() {
        keys.iter().try_for_each(|key| key.check_active(now_s))?;
    }
    let unpublished = keys
        .iter()
        .find(|key| key.is_active(now_s) && !key.is_published(now_s));
    match unpublished {
        Some(key) if !active.iter().any(|key| key.is_published(now_s)) => {
            Err(SignError::UnusableKey {
                key: key.file_stem(),
                what: "it is to sign, but it is not published, and neither is any other that signs"
                    .into(),
                hint: "set the time of its publication no later than that of its activation",
            })
        }
        _ => Ok(()),
    }
}

fn summary<'py>(
    py: Python<'py>,
    signed: &SignedFile,
    keys: &[KeyPair],
    parameters: &FileSigning,
    now_s: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let stems = |keys: &mut dyn Iterator<Item = &KeyPair>| -> Vec<String> {
        keys.map(KeyPair::file_stem).collect()
    };
    found.set_item("zone", shown_name(&signed.apex))?;
    found.set_item("serial", signed.serial)?;
    found.set_item("dnskey_ttl_s", signed.dnskey_ttl_s)?;
    found.set_item("ttl_max_s", signed.signatures.ttl_max_s)?;
    for (name, count) in [
        ("records", signed.records),
        ("octets", signed.octets),
        ("chain_names", signed.chain_names),
        ("made", signed.signatures.made),
        ("kept", signed.signatures.kept),
        ("verified", signed.signatures.verified),
        ("dropped", signed.signatures.dropped),
    ] {
        found.set_item(name, count)?;
    }
    let (chain, nsec3) = match &signed.chain {
        Chain::Nsec => ("nsec", None),
        Chain::Nsec3(parameters) => ("nsec3", Some(parameters)),
        Chain::Given | Chain::Kept => ("given", None),
    };
    found.set_item("chain", chain)?;
    found.set_item("iterations", nsec3.map(|parameters| parameters.iterations))?;
    let salt = |parameters: &Nsec3Parameters| {
        let octets = parameters.salt.iter();
        octets
            .map(|octet| format!("{octet:02X}"))
            .collect::<String>()
    };
    found.set_item("salt", nsec3.map(salt))?;
    found.set_item(
        "opt_out",
        nsec3.is_some_and(|parameters| parameters.opt_out),
    )?;
    let digests: Vec<&str> = signed.digests.iter().map(|hash| hash_name(*hash)).collect();
    found.set_item("zonemd", digests)?;
    found.set_item("keys", stems(&mut keys.iter()))?;
    let key_signing: Vec<&KeyPair> = key_signing_keys(keys)
        .filter(|key| key.role() == Role::Ksk || !has_offline(signed, key))
        .collect();
    found.set_item("key_signing_keys", stems(&mut key_signing.iter().copied()))?;
    found.set_item("zone_signing_keys", stems(&mut zone_signing_keys(keys)))?;
    let only_published = parameters.publication.published.iter().flatten();
    let only_published: Vec<String> = only_published
        .filter(|dnskey| !keys.iter().any(|key| key.public() == *dnskey))
        .map(Dnskey::file_stem)
        .collect();
    found.set_item("published_keys", only_published)?;
    let offline: PyResult<Vec<_>> = signed
        .offline_keys
        .iter()
        .map(|offline| offline_key(py, offline, now_s))
        .collect();
    found.set_item("offline_keys", offline?)?;
    let leaving = &parameters.publication.leaving;
    let with_ds = key_signing.iter().map(|key| key.public());
    let with_ds = with_ds.filter(|key| !leaving.contains(key));
    let ds: Vec<String> = with_ds
        .chain(signed.offline_keys.iter().map(|offline| &offline.key))
        .map(|key| ds_line(key, DigestType::Sha256, Some(signed.dnskey_ttl_s), false))
        .collect();
    found.set_item("ds", ds)?;
    found.set_item("trouble", &signed.trouble)?;
    let of_names = signed.warnings.iter().map(ToString::to_string);
    let warnings: Vec<String> = signed.remarks.iter().cloned().chain(of_names).collect();
    let count = signed.warning_count + signed.remarks.len() as u64;
    set_warnings(&found, warnings, count)?;
    Ok(found)
}

/// Whether a key-signing key of the same algorithm signed elsewhere, so that `key` need not stand in for one.
fn has_offline(signed: &SignedFile, key: &KeyPair) -> bool {
    let number = key.algorithm().number();
    let mut offline = signed.offline_keys.iter();
    offline.any(|offline| offline.key.algorithm_number() == number)
}

/// A key whose signature of the DNSKEY RRset was kept: its file name, tag, and when the signature ends, in seconds since 1970.
fn offline_key<'py>(
    py: Python<'py>,
    offline: &OfflineKey,
    now_s: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("file_name", offline.key.file_stem())?;
    found.set_item("tag", offline.key.tag())?;
    // Times of signatures wrap around (RFC 4034 section 3.1.5).
    let left_s = offline.until.wrapping_sub(now_s as u32) as i32;
    found.set_item("until_s", now_s.saturating_add_signed(left_s.into()))?;
    Ok(found)
}

fn hash_name(hash: ZonemdHash) -> &'static str {
    match hash {
        ZonemdHash::Sha384 => "sha384",
        ZonemdHash::Sha512 => "sha512",
    }
}

fn set_warnings(found: &Bound<'_, PyDict>, warnings: Vec<String>, count: u64) -> PyResult<()> {
    found.set_item("warnings", warnings)?;
    found.set_item("warning_count", count)
}

/// Verifies the signed zone file `path` as of `now_s`; `ds` has the data of the parent zone's DS records.
#[pyfunction]
#[pyo3(signature = (path, reading, *, now_s, ignore_times=false, ds=Vec::new(), most=100))]
pub fn verify_zone<'py>(
    py: Python<'py>,
    path: PathBuf,
    reading: Reading<'_>,
    now_s: u64,
    ignore_times: bool,
    ds: Vec<Bound<'py, PyBytes>>,
    most: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let verification = Verification {
        // Times of signatures wrap around (RFC 4034 section 3.1.5).
        now: now_s as u32,
        ignores_times: ignore_times,
        ds: ds.iter().map(|ds| ds.as_bytes().to_vec()).collect(),
        faults_max: most,
    };
    let verified = run(py, path, &reading, |opening, pool| {
        verify_file(opening, pool, &verification)
    })?;
    let found = PyDict::new(py);
    found.set_item("zone", &verified.zone)?;
    for (name, count) in [
        ("records", verified.records),
        ("rrsets", verified.rrsets),
        ("signatures", verified.signatures),
        ("chain_names", verified.chain_names),
        ("fault_count", verified.fault_count),
    ] {
        found.set_item(name, count)?;
    }
    found.set_item("chain", verified.chain)?;
    found.set_item("algorithms", &verified.algorithms)?;
    let digests: Vec<&str> = verified.digests.iter().copied().map(hash_name).collect();
    found.set_item("zonemd", digests)?;
    let faults: PyResult<Vec<_>> = verified
        .faults
        .iter()
        .map(|fault| described(py, fault))
        .collect();
    found.set_item("faults", faults?)?;
    let warnings: Vec<String> = verified.warnings.iter().map(ToString::to_string).collect();
    let count = warnings.len() as u64;
    set_warnings(&found, warnings, count)?;
    Ok(found)
}

fn described<'py>(py: Python<'py>, fault: &Fault) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("file", fault.at.file.display().to_string())?;
    found.set_item("line", fault.at.line)?;
    found.set_item("column", fault.at.column)?;
    found.set_item("owner", &fault.owner)?;
    found.set_item("type", fault.rtype.to_string())?;
    found.set_item("what", &fault.what)?;
    found.set_item("text", fault.to_string())?;
    Ok(found)
}
