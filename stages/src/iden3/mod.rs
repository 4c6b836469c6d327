//! The container that circom and snarkjs put everything in: a magic word, a version, and numbered sections in any order.
//!
//! | bytes | |
//! |---|---|
//! | 4 | magic |
//! | 4 | version |
//! | 4 | number of sections |
//! | 4 + 8 + n | for each section: its number, its length n, its bytes |
//!
//! Numbers are little-endian. Bytes in memory are a [`Container`], a file on disk a [`SectionFile`].
//! Everything in them is untrusted: counts are held against the bytes that are there before memory is taken for them,
//! and field elements against the prime.

mod container;
mod cursor;
mod field;
mod section_file;

pub(crate) use container::{Container, expect_end};
pub(crate) use cursor::{Cursor, SCALAR_BYTES};
pub(crate) use field::expect_bls12_381;
pub(crate) use section_file::{Place, SectionFile};

/// More sections than this are no file of circom's, and looking through them would take for ever.
const MOST_SECTIONS: usize = 1024;
/// More bytes of a header are not read: they are too many in any case.
const MOST_HEADER_BYTES: u64 = 1 << 12;
/// Bytes before the first section.
const HEAD_BYTES: u64 = 12;
/// Bytes before a section's content.
const SECTION_HEAD_BYTES: u64 = 12;
