//! Digests that can be computed in parallel: of the digests of pieces.

use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::partial::open_regular;

/// SHA-256 of the digests of all pieces, one behind the other, and the length in 8 bytes, little-endian.
pub(crate) type Digest = [u8; 32];

/// Bytes of a piece, the last one excepted: whole pages, and whole points of both groups.
pub(crate) const PIECE_BYTES: usize = 192 * 4096;

pub(crate) fn digest_of_piece(piece: &[u8]) -> Digest {
    Sha256::digest(piece).into()
}

/// The digest of so many bytes with these pieces.
pub(crate) fn combine(pieces: &[Digest], length: u64) -> Digest {
    let mut hasher = Sha256::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.update(length.to_le_bytes());
    hasher.finalize().into()
}

/// The digest of bytes that come bit by bit.
#[derive(Clone, Default)]
pub(crate) struct PieceHasher {
    piece: Sha256,
    within: usize,
    pieces: Vec<Digest>,
    length: u64,
}

impl PieceHasher {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE_BYTES - self.within));
            self.piece.update(now);
            self.within += now.len();
            bytes = later;
            if self.within == PIECE_BYTES {
                self.pieces.push(self.piece.finalize_reset().into());
                self.within = 0;
            }
        }
    }

    pub(crate) fn finish(mut self) -> Digest {
        if self.within > 0 {
            self.pieces.push(self.piece.finalize_reset().into());
        }
        combine(&self.pieces, self.length)
    }
}

/// The digest and the length of a whole file, in parallel.
pub(crate) fn digest_of_file(path: &Path) -> Result<(Digest, u64), Error> {
    let file = open_regular(path)?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    let pieces = (0..length.div_ceil(PIECE_BYTES as u64)).into_par_iter().map_init(Vec::new, |buffer, piece| {
        let offset = piece * PIECE_BYTES as u64;
        buffer.resize((length - offset).min(PIECE_BYTES as u64) as usize, 0);
        file.read_exact_at(buffer, offset).map_err(Error::io("read", path))?;
        Ok(digest_of_piece(buffer))
    });
    Ok((combine(&pieces.collect::<Result<Vec<_>, Error>>()?, length), length))
}
