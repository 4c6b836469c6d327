//! The tags of a stage implementation.

use std::fmt;

/// A set of tags. Each tag is paid out as a capability in the stage's signature (see [`crate::capability`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tags(u8);

impl Tags {
    /// No tag.
    pub const NONE: Tags = Tags(0);
    /// The stage streams more memory than the caches hold: it needs a [`crate::capability::MemPermit`].
    pub const MEM_HEAVY: Tags = Tags(1);
    /// The stage runs on a device: it needs a [`crate::capability::GpuDevice`].
    pub const GPU: Tags = Tags(2);
    /// The stage computes in the pool of its placement: it needs a [`crate::capability::CcdPool`].
    pub const CCD_PINNED: Tags = Tags(4);
    /// The stage gives memory back to the kernel: it needs a [`crate::capability::DeallocPermit`].
    pub const UNMAPS: Tags = Tags(8);

    /// Every tag with the word that stands for it in `#[stage(…)]` and in graph files.
    pub const ALL: [(Tags, &'static str); 4] = [
        (Tags::MEM_HEAVY, "mem_heavy"),
        (Tags::GPU, "gpu"),
        (Tags::CCD_PINNED, "ccd_pinned"),
        (Tags::UNMAPS, "unmaps"),
    ];

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Tags) -> Tags {
        Tags(self.0 | other.0)
    }

    /// Whether every tag of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Tags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The words of the tags in this set, in declaration order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().filter(move |(tag, _)| self.contains(*tag)).map(|(_, word)| word)
    }
}

impl fmt::Debug for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.words()).finish()
    }
}
