//! What the targets share.

use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Gives `bytes` to a reader of files, in a file in memory.
pub fn as_file<T>(bytes: &[u8], name: &str, read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file in memory");
    read(&path)
}

/// The bytes as a sealed file whose digests are right, so that what they guard is reached: the length, the digest of each
/// section that lies within the bytes, and the seal are put in. The format is that of `stages/src/sealed`.
pub fn resealed(bytes: &[u8]) -> Vec<u8> {
    const SEAL: std::ops::Range<usize> = 24..56;
    const HEAD: usize = 56;
    const LINE: usize = 56;
    const PAGE: usize = 4096;
    const PIECE: usize = 192 * 4096;
    let mut bytes = bytes.to_vec();
    if bytes.len() < PAGE {
        return bytes;
    }
    let length = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let word = |bytes: &[u8], at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let stated = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let table = HEAD..HEAD + LINE * stated.min((PAGE - HEAD) / LINE);
    for line in table.clone().step_by(LINE) {
        let (offset, length) = (word(&bytes, line + 8) as usize, word(&bytes, line + 16));
        let end = offset.checked_add(length as usize);
        let Some(section) = end.and_then(|end| bytes.get(offset..end)) else { continue };
        let mut digest = Sha256::new();
        section.chunks(PIECE).for_each(|piece| digest.update(Sha256::digest(piece)));
        digest.update(length.to_le_bytes());
        let digest = digest.finalize();
        bytes[line + 24..line + LINE].copy_from_slice(&digest);
    }
    bytes[SEAL].fill(0);
    let seal = Sha256::digest(&bytes[..table.end]);
    bytes[SEAL].copy_from_slice(&seal);
    bytes
}
