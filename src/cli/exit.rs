//! How the command ends when it fails: one line on standard error, and an exit code that scripts can tell apart.

use std::io::Write as _;
use std::process::ExitCode;

use proofline::study::StudyError;
use proofline::{Cause, Class, Error, Failure, ProverError, StartError, SubmitError};

/// The exit codes, as `--help` shows them.
pub const CODES: &str = "Exit codes:
   0  done
   1  refused: a proof does not verify, a graph or a SKU has errors, or no graph runs within the limits
   2  the command line is wrong
   3  a file or text cannot be understood: damaged, of another kind, or with a fault at a place
   4  circuit, key, witness or proof do not belong together, or measurements to a model
   5  the witness does not satisfy the circuit
   6  a file cannot be read or written: it is not there, not allowed, or a folder, a pipe or a device
   7  this machine is not what the compiled graph demands
  70  an internal fault";

/// What clap says: its usage errors end with 2; help and version are printed as everything else is.
pub fn said_by_clap(said: &clap::Error) -> ExitCode {
    let printed = said.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(error) if !said.use_stderr() && error.kind() != std::io::ErrorKind::BrokenPipe => {
            tell!("error: cannot write to standard output: {error}");
            ExitCode::from(6)
        }
        _ => ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(2)),
    }
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Nothing is wrong with the command: the answer is no, and has been printed.
    #[error("")]
    Refused,
    /// Files could not be read: which and why has been printed.
    #[error("")]
    Unread,
    /// A combination of arguments that clap does not know to be wrong.
    #[error("{0}")]
    Usage(String),
    /// Files, circuits, keys, witnesses.
    #[error(transparent)]
    Input(#[from] Error),
    /// The pipeline does not start on this machine.
    #[error(transparent)]
    Machine(#[from] StartError),
    /// A job was not accepted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// A simulation cannot be read or run.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A proof failed.
    #[error("{}", said_of(.0))]
    Proof(#[from] Failure),
    /// A fault of one proof of several, by the name that its owner knows it by.
    #[error("{what}: {fault}")]
    Of {
        /// The proof, and the witness or input that it is of.
        what: String,
        /// Its fault.
        fault: Box<Fault>,
    },
    /// Anything else.
    #[error("{0}")]
    Internal(String),
}

impl From<ProverError> for Fault {
    fn from(error: ProverError) -> Self {
        match error {
            ProverError::Machine(error) => Self::Machine(error),
            ProverError::Kernels(error) => Self::Input(error),
        }
    }
}

impl Fault {
    /// Says what is wrong, and gives the exit code for it.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Refused | Self::Unread => {}
            // The diagnostics of a graph begin with the word themselves.
            Self::Study(StudyError::Graph(diagnostics)) => tell!("{diagnostics}"),
            _ => tell!("error: {self}"),
        }
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Refused => 1,
            Self::Unread => 6,
            Self::Usage(_) => 2,
            Self::Input(error) => code_of(error),
            Self::Machine(_) | Self::Submit(_) => 7,
            Self::Study(error) => code_of_study(error),
            Self::Proof(Failure { cause: Cause::Failed(error), .. }) => error.source_as::<Error>().map_or(70, code_of),
            Self::Proof(_) | Self::Internal(_) => 70,
            Self::Of { fault, .. } => fault.code(),
        }
    }
}

/// Why a proof failed. What a stage says of files and witnesses can be mended by who reads it, whichever stage it was.
fn said_of(failure: &Failure) -> String {
    match &failure.cause {
        Cause::Failed(error) if error.source_as::<Error>().is_some() => match failure.key.partition {
            0 => error.to_string(),
            partition => format!("partition {partition}: {error}"),
        },
        _ => failure.to_string(),
    }
}

fn code_of_study(error: &StudyError) -> u8 {
    match error {
        StudyError::Graph(_)
        | StudyError::NothingRuns { .. }
        | StudyError::NothingFits { .. }
        | StudyError::WouldNotStart(_) => 1,
        StudyError::NotFromThere { .. }
        | StudyError::NoCosts { .. }
        | StudyError::NoMachine
        | StudyError::NoSku { .. }
        | StudyError::NoSizes
        | StudyError::NoConstraints { .. }
        | StudyError::TooMany { .. }
        | StudyError::TooManyFirings { .. }
        | StudyError::Setting(_) => 2,
        StudyError::Costs { .. }
        | StudyError::NoText { .. }
        | StudyError::TraceText { .. }
        | StudyError::Trace { .. } => 3,
        StudyError::OtherGraph { .. }
        | StudyError::NoModel(_)
        | StudyError::NoCostsOf { .. }
        | StudyError::NoSuchPolicy { .. }
        | StudyError::Sim(_) => 4,
        StudyError::Unreadable { .. } => 6,
    }
}

fn code_of(error: &Error) -> u8 {
    match error.class() {
        Class::BadInput => 3,
        Class::Mismatch => 4,
        Class::Unsatisfied => 5,
        Class::Io => 6,
        Class::Internal => 70,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofline::runtime::error::StageError;
    use proofline::runtime::key::{JobId, TokenKey};

    #[test]
    fn a_failed_proof_has_the_code_of_its_cause() {
        let key = TokenKey { job: JobId(0), partition: 0 };
        let unsatisfied = || Error::Unsatisfied { circuit: "c".into(), row: 3 };
        let fault = |cause| Fault::Proof(Failure { key, stage: None, cause });
        let code = |cause| fault(cause).code();
        let of = Fault::Of {
            what: "proof-3 (a.wtns)".into(),
            fault: Box::new(fault(Cause::Failed(StageError::of(unsatisfied())))),
        };
        assert_eq!((of.code(), of.to_string()), (5, format!("proof-3 (a.wtns): {}", unsatisfied())));
        assert_eq!(code(Cause::Failed(StageError::of(unsatisfied()))), 5);
        assert_eq!(code(Cause::Failed(StageError::new("no source"))), 70);
        assert_eq!(code(Cause::Panicked("index".into())), 70);
        // Of this class is what the self-test at start-up says of a machine that computes wrongly.
        assert_eq!(Fault::Input(Error::Internal(String::new())).code(), 70);
    }
}
