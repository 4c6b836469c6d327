//! What can be wrong with the files and witnesses that people hand in, said to the person who can mend it.

use std::io;
use std::path::{Path, PathBuf};

use pipeline_runtime::error::StageError;

/// A refusal, with the file, the place, the numbers and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system would not read or write.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// What was tried: `open`, `read`, `write`, `create`.
        action: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// What should be a file is a folder, a pipe or a device: it is not opened.
    #[error("{} is not a regular file{advice}", file.display())]
    NotRegular {
        /// What it is called.
        file: PathBuf,
        /// What to give instead, behind a colon; may be empty.
        advice: String,
    },

    /// The file ends too early.
    #[error(
        "{} ends too early: {what} at offset {offset} takes {needed} bytes and {left} are left; the file was cut off \
         or damaged on its way, fetch it again",
        file.display()
    )]
    Truncated {
        /// The file.
        file: PathBuf,
        /// Where the missing part begins, in bytes from the start of the file.
        offset: u64,
        /// What was expected there.
        what: String,
        /// Its length, in bytes.
        needed: u64,
        /// The bytes that are there.
        left: u64,
    },

    /// The file's bytes do not mean what its format says.
    #[error("{} is not valid at offset {offset}: {fault}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What is wrong and what to do.
        fault: String,
    },

    /// The file is about another field than BLS12-381's scalar field.
    #[error("{} is over the wrong field: {fault}", file.display())]
    WrongField {
        /// The file.
        file: PathBuf,
        /// Which field it is and what to do.
        fault: String,
    },

    /// A text that should name or list something does not.
    #[error("{0}")]
    BadText(String),

    /// The key, the witness and the circuit do not belong together.
    #[error("{0}")]
    Mismatch(String),

    /// The witness does not satisfy the circuit.
    #[error(
        "the witness does not satisfy the circuit `{circuit}`: constraint {row} (counted from 0) is the first with a·b ≠ c"
    )]
    Unsatisfied {
        /// The circuit.
        circuit: String,
        /// The first unsatisfied row, counted from 0.
        row: usize,
    },

    /// The circuit's own code could not make the witness.
    #[error("the circuit `{circuit}` could not be synthesised: {source}")]
    Synthesis {
        /// The circuit.
        circuit: String,
        /// What bellpepper reported.
        source: bellpepper_core::SynthesisError,
    },

    /// A witness calculator could not make the witness.
    #[error("{why}")]
    NotComputed {
        /// What kind of fault it is.
        class: Class,
        /// What is wrong and what to do.
        why: String,
    },

    /// A proof that this program made is not valid; it does not leave.
    #[error(
        "the proof does not verify against the key, so it is withheld: the key was made for another circuit than \
         `{circuit}` (make or choose the right one), or this machine computes wrongly"
    )]
    ProofRefused {
        /// The circuit.
        circuit: String,
    },

    /// A proof is not valid, and the constraints were not there to say why.
    #[error(
        "the proof does not verify, so it is withheld: the witness does not satisfy the circuit `{circuit}` (a `.zkey` holds \
         only a part of the constraints: give the `.r1cs` too and the constraint is named), or the key is of another circuit"
    )]
    UnsatisfiedOrForeign {
        /// The circuit.
        circuit: String,
    },

    /// A kernel does not give the known answer: this machine computes wrongly.
    #[error(transparent)]
    Kernels(#[from] proofline_kernels::selftest::SelfTestError),

    /// A stage was given a token that it cannot use; never the caller's fault.
    #[error("internal fault: {0}")]
    Internal(String),
}

/// What kind of fault an error is; the command makes its exit code of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A file or text cannot be understood.
    BadInput,
    /// Circuit, key, witness or proof do not belong together.
    Mismatch,
    /// The witness does not satisfy the circuit.
    Unsatisfied,
    /// The system would not read or write.
    Io,
    /// A fault of this program.
    Internal,
}

impl Error {
    /// What kind of fault this is.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::NotComputed { class, .. } => *class,
            Self::Io { .. } | Self::NotRegular { .. } => Class::Io,
            Self::Truncated { .. } | Self::Malformed { .. } | Self::WrongField { .. } | Self::BadText(_) => {
                Class::BadInput
            }
            Self::Mismatch(_) | Self::ProofRefused { .. } => Class::Mismatch,
            Self::Unsatisfied { .. } | Self::UnsatisfiedOrForeign { .. } | Self::Synthesis { .. } => Class::Unsatisfied,
            Self::Kernels(_) | Self::Internal(_) => Class::Internal,
        }
    }

    /// An [`Error::Io`], for `map_err`.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { action, file, source }
    }
}

impl From<Error> for StageError {
    fn from(error: Error) -> Self {
        StageError::of(error)
    }
}
