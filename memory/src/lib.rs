//! Memory that is mapped once and kept.
//!
//! A proof in the steady state maps, unmaps and faults nothing: what it needs lies in blocks that were mapped and touched
//! before it, and that are used again after it.
//!
//! - [`Arena`]: who maps, with what settings; it counts what it asked of the kernel
//! - [`Block`]: one mapping, on pages of 2 MiB where there are some
//! - [`Pages`]: an array of fixed length; [`List`]: one that is filled anew for each use, in memory that it keeps
//! - [`Lender`]: memory of arrays that their owner does not need for a while, in place of mappings
//! - [`figures`]: page faults, shootdowns and resident memory, as the kernel counts them
//!
//! Nothing here is global: two arenas do not know of each other.

mod arena;
mod block;
pub mod figures;
mod lender;
mod list;
#[cfg(test)]
mod misuse_tests;
mod pages;
mod raw;

pub use arena::{Arena, Counts, GiveBack, Registrar, Settings};
pub use block::{Block, PageSize};
pub use lender::{Lender, have_room};
pub use list::List;
pub use pages::Pages;

/// Size of a large page on x86-64 and AArch64. Miri, which maps nothing and takes microseconds for each word, has smaller
/// ones.
pub const LARGE_PAGE: usize = if cfg!(miri) { 16 << 10 } else { 2 << 20 };

/// Size of the pages that mappings are counted in; every multiple of it is one of all pages of Linux on x86-64.
const SMALL_PAGE: usize = 4 << 10;

/// Arrays below this size would waste more of a large page than they gain.
const WORTHWHILE: usize = LARGE_PAGE / 2;

/// Arrays below this size come from the heap, which keeps such small pieces by itself; secrets never do.
pub const HEAP_BELOW: usize = if cfg!(miri) { SMALL_PAGE } else { 64 << 10 };

/// The memory that an array of so many bytes takes in an arena of secrets with large pages: whole pages.
#[must_use]
pub const fn taken(bytes: usize) -> usize {
    match bytes {
        ..WORTHWHILE => bytes.next_multiple_of(SMALL_PAGE),
        _ => bytes.next_multiple_of(LARGE_PAGE),
    }
}
