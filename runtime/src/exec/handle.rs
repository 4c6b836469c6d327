//! What the owner of a job holds.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::exec::guard::guarded;
use crate::key::JobId;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// A submitted job. Dropping the handle lets the job run on; [`Handle::cancel`] ends it.
///
/// The outputs come in the order of the partitions. Wait with [`Handle::wait`], or `.await` the handle.
#[must_use = "the result of the job is read through its handle"]
pub struct Handle<O> {
    pub(crate) job: JobId,
    pub(crate) outcome: Arc<Outcome<O>>,
    pub(crate) canceller: Arc<dyn Canceller>,
}

/// Ends jobs.
pub(crate) trait Canceller: Send + Sync {
    fn cancel(&self, job: JobId);
}

/// The result of a job, or the lack of one.
pub(crate) struct Outcome<O> {
    state: Mutex<State<O>>,
    settled: Condvar,
}

struct State<O> {
    result: Option<Result<Vec<O>, Failure>>,
    settled: bool,
    /// Whether somebody has a result and is about to settle.
    claimed: bool,
    waker: Option<Waker>,
}

impl<O> State<O> {
    /// The result, if it is there.
    fn take(&mut self) -> Option<Result<Vec<O>, Failure>> {
        let result = self.result.take();
        assert!(result.is_some() || !self.settled, "the handle was polled before, and has given its result away");
        result
    }
}

impl<O> Outcome<O> {
    pub(crate) fn new() -> Arc<Self> {
        let state = State { result: None, settled: false, claimed: false, waker: None };
        Arc::new(Self { state: Mutex::new(state), settled: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first result counts; `false` if there was one. `before` runs first, without the lock: what it tells an
    /// observer comes before anything that the owner does when it has the result, the next submission say.
    pub(crate) fn settle(&self, result: Result<Vec<O>, Failure>, before: impl FnOnce()) -> bool {
        if std::mem::replace(&mut self.lock().claimed, true) {
            return false;
        }
        before();
        let mut state = self.lock();
        (state.result, state.settled) = (Some(result), true);
        let waker = state.waker.take();
        drop(state);
        self.settled.notify_all();
        if let Some(waker) = waker {
            // The waker is the owner's code and runs on a worker's thread; its panic has been reported by the hook.
            let _ = guarded(|| waker.wake());
        }
        true
    }
}

impl<O> Handle<O> {
    /// The job's number.
    #[must_use]
    pub fn job(&self) -> JobId {
        self.job
    }

    /// Cancels the job: what has not started never will, what runs now is thrown away. The result is
    /// [`crate::error::Cause::Cancelled`], unless there was one already.
    pub fn cancel(&self) {
        self.canceller.cancel(self.job);
    }

    /// Whether the result is there.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.outcome.lock().settled
    }

    /// Waits for the outputs, one a partition, in order.
    ///
    /// # Errors
    /// The first failure of the job.
    ///
    /// # Panics
    /// The handle was polled before, and has given its result away.
    pub fn wait(self) -> Result<Vec<O>, Failure> {
        let mut state = self.outcome.lock();
        loop {
            if let Some(result) = state.take() {
                return result;
            }
            state = self.outcome.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits no longer than `limit`.
    ///
    /// # Errors
    /// The handle itself, when the time is over and the job is not.
    ///
    /// # Panics
    /// As [`Self::wait`].
    pub fn wait_for(self, limit: Duration) -> Result<Result<Vec<O>, Failure>, Self> {
        // A limit beyond the clock's range is none.
        let end = Instant::now().checked_add(limit);
        let mut state = self.outcome.lock();
        loop {
            if let Some(result) = state.take() {
                return Ok(result);
            }
            let Some(end) = end else {
                state = self.outcome.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                return Err(self);
            }
            state = self.outcome.settled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<O> Future for Handle<O> {
    type Output = Result<Vec<O>, Failure>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.outcome.lock();
        match state.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
