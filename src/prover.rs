//! The library's face of the running pipeline.

use pipeline_runtime::exec::{Binding, Options, Reservation, Running, StartError, SubmitError};
use pipeline_runtime::plan::{MemoryTable, Plan};
use pipeline_runtime::stage::Brought;
use proofline_memory::Counts;
use proofline_stages::{Error, Job, Proof, selftest};

use crate::Pipeline;

/// A submitted job: wait for its proofs, `.await` it, or cancel it.
pub type Handle = pipeline_runtime::exec::Handle<Proof>;

/// Why a prover did not start.
#[derive(Debug, thiserror::Error)]
pub enum ProverError {
    /// The machine lacks what the compiled plan demands.
    #[error(transparent)]
    Machine(#[from] StartError),
    /// A kernel gives a wrong answer to a question whose answer is known: the machine computes wrongly.
    #[error(transparent)]
    Kernels(#[from] Error),
}

/// The compiled pipeline, running.
///
/// Dropping a prover shuts it down cleanly: no more jobs are taken, and those that were accepted run to their end.
/// [`Prover::abort`] before that fails them instead.
pub struct Prover {
    running: Running<Job, Proof>,
}

impl Prover {
    /// Starts the pipeline on this machine.
    ///
    /// # Errors
    /// The machine lacks what the compiled plan demands, or its kernels compute wrongly.
    pub fn start() -> Result<Self, ProverError> {
        Self::with(Options::default())
    }

    /// Starts the pipeline with an observer, a policy, or on a machine that is only described.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn with(options: Options) -> Result<Self, ProverError> {
        // A wrong kernel would show as proofs that do not verify, minutes later. The test needs no pool of the plan, and
        // must not start rayon's global one, which would stay.
        let name = "selftest";
        let thread =
            |error: rayon::ThreadPoolBuildError| StartError::Thread { name: name.into(), why: error.to_string() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(move |_| name.into());
        pool.build().map_err(thread)?.install(selftest::run)?;
        Ok(Self { running: Running::start::<Pipeline>(options)? })
    }

    /// Takes a job in. Its proofs come in the order of its witnesses, each verified.
    ///
    /// # Errors
    /// The job can never fit the plan, or the prover is shutting down.
    pub fn submit(&self, job: Job) -> Result<Handle, SubmitError> {
        self.running.submit(job)
    }

    /// Reserves the memory of a key and a circuit before they are loaded: waits until there is room, after the jobs that came
    /// before, while what is idle makes some. Dropping the reservation, because a file cannot be read say, gives it back.
    ///
    /// The bytes are a bound ([`bytes_of_key`](crate::bytes_of_key)); [`submit_in`](Self::submit_in) counts what the job says.
    /// While something is being loaded, jobs of other keys go on. Do not wait for a job with a reservation in hand: it may
    /// stand behind.
    ///
    /// # Errors
    /// It can never fit, with the table, or the prover is shutting down.
    pub fn reserve(&self, needs: &[Brought]) -> Result<Reservation, SubmitError> {
        self.running.reserve(needs)
    }

    /// [`submit`](Self::submit), in the place of the reservation for what the job brings.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); the reservation is given back.
    pub fn submit_in(&self, reservation: Reservation, job: Job) -> Result<Handle, SubmitError> {
        self.running.submit_in(reservation, job)
    }

    /// The plan that this build was compiled from.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        self.running.plan()
    }

    /// What a job takes of the memory: the program, its key and matrices, and all slots and workspaces for circuits of its
    /// size. [`submit`](Self::submit) refuses it where there is less.
    #[must_use]
    pub fn memory_plan(&self, job: &Job) -> MemoryTable {
        self.running.memory_plan(job)
    }

    /// What the memory of slots and workspaces asked of the kernel so far.
    #[must_use]
    pub fn memory(&self) -> Counts {
        self.running.memory()
    }

    /// Where each worker runs, and whether its binding holds.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        self.running.bindings()
    }

    /// What the graph prefers and this machine does not have: one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        self.running.notes()
    }

    /// Waits until every accepted job has come to its end.
    pub fn drain(&self) {
        self.running.drain();
    }

    /// Whether nothing runs and every permit, place and slot is where it was at the start.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_idle()
    }

    /// Takes no more jobs and fails those that are not done; what runs now ends first.
    pub fn abort(&self) {
        self.running.abort();
    }
}
