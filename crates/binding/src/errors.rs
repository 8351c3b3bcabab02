//! Rust errors as the exceptions of `dnsrig.errors`, and as Python's own where nobody reads the output any more.

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::io::{self, ErrorKind};

/// The class that an error becomes, and with it the exit code.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `InputError`: the command line or an input file is wrong.
    Input,
    /// `SubjectFailedError`: the thing under test failed.
    SubjectFailed,
    /// `EnvironmentLacksError`: this machine lacks something.
    EnvironmentLacks,
    /// `BrokenPipeError`: whoever read the output has gone.
    Unread,
}

impl Kind {
    /// The module and the name of the class.
    fn class(self) -> (&'static str, &'static str) {
        match self {
            Self::Input => ("dnsrig.errors", "InputError"),
            Self::SubjectFailed => ("dnsrig.errors", "SubjectFailedError"),
            Self::EnvironmentLacks => ("dnsrig.errors", "EnvironmentLacksError"),
            Self::Unread => ("builtins", "BrokenPipeError"),
        }
    }
}

/// Makes the Python exception of class `kind` with the error's own words.
pub fn exception(kind: Kind, error: impl std::fmt::Display) -> PyErr {
    let message = error.to_string();
    let (module, class) = kind.class();
    Python::attach(|py| {
        py.import(module)
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((&message,)))
            .map_or_else(
                |_| PyRuntimeError::new_err(message.clone()),
                PyErr::from_value,
            )
    })
}

/// An error of any crate below, with the exception that it becomes.
pub trait IntoPython {
    /// The exception class.
    fn kind(&self) -> Kind;
}

impl IntoPython for dnsrig_zone::ZoneError {
    fn kind(&self) -> Kind {
        match self {
            Self::Write { .. }
            | Self::Temporary { .. }
            | Self::TemporaryOutput { .. }
            | Self::Threads { .. } => Kind::EnvironmentLacks,
            _ => Kind::Input,
        }
    }
}

impl IntoPython for dnsrig_stream::StreamError {
    fn kind(&self) -> Kind {
        match self {
            Self::Output { source } if source.kind() == ErrorKind::BrokenPipe => Kind::Unread,
            Self::Write { .. } | Self::Output { .. } | Self::NoMemory { .. } => {
                Kind::EnvironmentLacks
            }
            _ => Kind::Input,
        }
    }
}

impl IntoPython for dnsrig_traffic::TrafficError {
    fn kind(&self) -> Kind {
        match self {
            Self::Output { source } if source.kind() == ErrorKind::BrokenPipe => Kind::Unread,
            Self::Write { .. }
            | Self::Output { .. }
            | Self::NoMemory { .. }
            | Self::Threads { .. } => Kind::EnvironmentLacks,
            Self::Stream(error) => error.kind(),
            Self::Zone(error) => error.kind(),
            _ => Kind::Input,
        }
    }
}

impl IntoPython for dnsrig_load::LoadError {
    fn kind(&self) -> Kind {
        match self {
            Self::Unreachable { .. } | Self::Silent { .. } => Kind::SubjectFailed,
            Self::System { .. } => Kind::EnvironmentLacks,
            _ => Kind::Input,
        }
    }
}

impl IntoPython for dnsrig_answer::AnswerError {
    fn kind(&self) -> Kind {
        match self {
            Self::NoSoa { .. }
            | Self::DuplicateZone { .. }
            | Self::ReadPem { .. }
            | Self::Certificate { .. } => Kind::Input,
            _ => Kind::EnvironmentLacks,
        }
    }
}

impl IntoPython for dnsrig_sign::SignError {
    fn kind(&self) -> Kind {
        match self {
            Self::WriteKey { .. }
            | Self::NotOnDisk { .. }
            | Self::Crypto { .. }
            | Self::Pkcs11Module { .. } => Kind::EnvironmentLacks,
            Self::Zone(error) => error.kind(),
            _ => Kind::Input,
        }
    }
}

/// The system's error as Python makes it, by whose number a caller knows what to say.
pub fn system_error(py: Python<'_>, error: io::Error) -> PyResult<PyErr> {
    // Without its number, a closed pipe passes click, which would end the program with a code of its own.
    let (Some(number), false) = (error.raw_os_error(), error.kind() == ErrorKind::BrokenPipe)
    else {
        return Ok(error.into());
    };
    let text: String = py
        .import("os")?
        .call_method1("strerror", (number,))?
        .extract()?;
    Ok(PyOSError::new_err((number, text)))
}

/// Turns a crate's result into Python's.
pub trait OrRaise<T> {
    /// Returns the value, or the exception that the error maps to.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: IntoPython + std::fmt::Display> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(error.kind(), error))
    }
}
