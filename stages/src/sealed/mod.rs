//! Files that this program makes for itself: sections that a digest guards.
//!
//! A key or a circuit in the form that the prover uses it in is large, and is read back often. So these files have
//! their sections aligned to pages, each in one stretch, to be read in parallel or mapped; a table in the header names
//! each section's place, length and digest, and the header's own digest, the *seal*, covers the table. No byte of a file is
//! unguarded, padding included: a file that is cut off or altered anywhere is refused.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | magic |
//! | 8 | 4 | version of the format |
//! | 12 | 4 | number of sections |
//! | 16 | 8 | length of the file |
//! | 24 | 32 | the seal: SHA-256 of the header, these bytes taken as zeros |
//! | 56 | 56 each | sections: number (4), zeros (4), offset (8), length (8), digest (32) |
//!
//! Numbers are little-endian. The header ends at 4096, the sections follow in the order of the table, each at the next
//! multiple of 4096, and the file ends with the last. A digest finds damage, not malice: who can write the file can seal it.

mod pieces;
mod reader;
mod writer;

pub(crate) use pieces::{Digest, PIECE_BYTES, PieceHasher, digest_of_file};
pub(crate) use reader::{Sealed, begins_as};
pub(crate) use writer::{SealedWriter, Written};

/// Sections start at multiples of a page.
const ALIGNMENT: u64 = 4096;
/// Bytes of the header before its table.
const HEAD_BYTES: usize = 56;
/// Bytes of a line of the table.
const LINE_BYTES: usize = 56;
/// Where the seal is.
const SEAL: std::ops::Range<usize> = 24..56;
/// More sections do not fit into the header's page.
const MOST_SECTIONS: usize = (ALIGNMENT as usize - HEAD_BYTES) / LINE_BYTES;

/// A kind of file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// The first bytes.
    pub(crate) magic: [u8; 8],
    /// What this program writes and reads.
    pub(crate) version: u32,
    /// In messages: `a converted key`.
    pub(crate) what: &'static str,
    /// In messages: how to get a good one.
    pub(crate) advice: &'static str,
}

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its number, which says what it is.
    pub(crate) number: u32,
    /// Where it begins.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) length: u64,
    /// Its digest.
    pub(crate) digest: Digest,
}

#[cfg(test)]
pub(crate) mod tests;
