//! One firing, as the stage sees it.

use std::sync::Arc;

use crate::capability::{CcdPool, GpuDevice, MemPermit};
use crate::error::StageError;
use crate::exec::double::Double;
use crate::key::TokenKey;
use crate::slot::{FreeList, Slot};
use crate::stage::{Job, Stage};

/// One firing of stage `S`: its job, its key, and the capabilities that its tags pay out.
pub struct Firing<'a, S: Stage + ?Sized> {
    pub(crate) job: &'a S::Job,
    pub(crate) key: TokenKey,
    pub(crate) free: &'a FreeList<S::Out>,
    pub(crate) rights: &'a Rights,
}

/// The capabilities of one worker, made once from the tags of its stage and its placement.
pub(crate) struct Rights {
    pub(crate) mem: Option<MemPermit>,
    pub(crate) cores: Option<CcdPool>,
    pub(crate) gpu: Option<GpuDevice>,
    /// Who stands in for the stage, and the stage's position.
    pub(crate) double: Option<(Arc<dyn Double>, usize)>,
}

impl<'a, S: Stage + ?Sized> Firing<'a, S> {
    /// The job that the token belongs to.
    #[must_use]
    pub fn job(&self) -> &'a S::Job {
        self.job
    }

    /// The token's name.
    #[must_use]
    pub fn key(&self) -> TokenKey {
        self.key
    }

    /// Where the output's memory comes from.
    #[must_use]
    pub fn slot(&self) -> Slot<'a, S::Out> {
        Slot::new(self.free, self.job.sizes(), self.rights.cores.as_ref())
    }

    /// The permit of a stage tagged `mem_heavy`.
    ///
    /// # Errors
    /// The stage does not have the tag. Compiled graphs never see this: the tags are checked at build time.
    pub fn mem_permit(&self) -> Result<&'a MemPermit, StageError> {
        self.rights.mem.as_ref().ok_or_else(|| missing::<S>("mem_heavy"))
    }

    /// The threads of a stage tagged `ccd_pinned`.
    ///
    /// # Errors
    /// As [`Self::mem_permit`].
    pub fn cores(&self) -> Result<&'a CcdPool, StageError> {
        self.rights.cores.as_ref().ok_or_else(|| missing::<S>("ccd_pinned"))
    }

    /// The device of a stage tagged `gpu`.
    ///
    /// # Errors
    /// As [`Self::mem_permit`].
    pub fn gpu(&self) -> Result<&'a GpuDevice, StageError> {
        self.rights.gpu.as_ref().ok_or_else(|| missing::<S>("gpu"))
    }
}

fn missing<S: Stage + ?Sized>(tag: &str) -> StageError {
    StageError::new(format_args!("`{}` asks for a capability that its tags do not pay out: tag it `{tag}`", S::NAME))
}
