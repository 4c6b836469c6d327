//! What a file is by its first bytes: so that one given in the place of another is told in a sentence.

use std::io::Read;
use std::path::Path;

use crate::partial::open_regular;

/// Beginnings, and what has them. Keys of bellperson have none: they begin with a point, whose first byte is below 0x1a.
const BEGINNINGS: [(&[u8], &str); 9] = [
    (b"r1cs", "a circuit of circom (`.r1cs`)"),
    (b"wtns", "a witness (`.wtns`)"),
    (b"zkey", "a key of snarkjs (`.zkey`)"),
    (b"\0asm", "a WebAssembly module (`.wasm`)"),
    (b"PLKEYS\r\n", "a converted key (`.resident`)"),
    (b"PLCIRC\r\n", "a stored circuit (`.pce`)"),
    (b"{", "JSON text"),
    (b"[", "JSON text"),
    (b"<svg", "an SVG picture"),
];

/// The bytes that tell.
const HEAD_BYTES: usize = 8;

/// What a file is whose first bytes these are; `None` where they do not tell.
pub(crate) fn of_bytes(head: &[u8]) -> Option<&'static str> {
    if head.is_empty() {
        return Some("an empty file");
    }
    BEGINNINGS.iter().find(|(beginning, _)| head.starts_with(beginning)).map(|(_, kind)| *kind)
}

/// What a file is, in words; `None` where its first bytes do not tell, or it cannot be read.
#[must_use]
pub fn of_file(path: &Path) -> Option<&'static str> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    open_regular(path).ok()?.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    of_bytes(&head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_tell() {
        assert_eq!(of_bytes(b"wtns\x02\0\0\0"), Some("a witness (`.wtns`)"));
        assert_eq!(of_bytes(b"{\"pi_a\""), Some("JSON text"));
        assert_eq!(of_bytes(b""), Some("an empty file"));
        assert_eq!(of_bytes(&[0x17; 8]), None);
        assert_eq!(of_file(Path::new("/dev/zero")), None);
    }
}
