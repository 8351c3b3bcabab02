//! `_core.KeySet`.

use crate::arguments::parse_name;
use crate::errors::{Kind, OrRaise, exception};
use dnsrig_sign::{Algorithm, DigestType, KeyPair, Role};
use dnsrig_zone::PresentationRecord;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::str::FromStr;

/// TTL of printed DS records; the parent zone decides.
const DS_TTL_S: u32 = 3600;

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

    /// Makes a key for `origin` and adds it. `role` is `ksk` or `zsk`; `bits` is for RSA.
    fn generate(
        &mut self,
        py: Python<'_>,
        origin: &str,
        algorithm: &str,
        bits: Option<u32>,
        role: &str,
    ) -> PyResult<()> {
        let origin = parse_name(origin)?;
        let algorithm = Algorithm::from_str(algorithm).or_raise()?;
        let role = match role {
            "ksk" => Role::Ksk,
            "zsk" => Role::Zsk,
            other => {
                let message = format!("'{other}' is no role of a key; there are ksk and zsk");
                return Err(exception(Kind::Input, message));
            }
        };
        let others = &self.keys;
        let key = py
            .detach(|| KeyPair::generate(&origin, algorithm, bits, role, others))
            .or_raise()?;
        self.keys.push(key);
        Ok(())
    }

    /// Reads a key from its pair of BIND key files and adds it; `path` is that of either file.
    fn read(&mut self, path: PathBuf) -> PyResult<()> {
        self.keys.push(KeyPair::read(&path).or_raise()?);
        Ok(())
    }

    /// Writes every key as a pair of BIND key files into `folder`; existing files are not overwritten.
    fn write(&self, folder: PathBuf) -> PyResult<()> {
        for key in &self.keys {
            key.write(&folder).or_raise()?;
        }
        Ok(())
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
            .map(|key| PresentationRecord(&key.ds(DigestType::Sha256, DS_TTL_S)).to_string())
            .collect()
    }

    /// The number of keys.
    fn __len__(&self) -> usize {
        self.keys.len()
    }
}
