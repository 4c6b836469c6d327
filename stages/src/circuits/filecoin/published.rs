//! The digests of the network's keys, as its crates list them.

use std::io::Read;
use std::path::Path;

use blake2b_simd::Params;
use storage_proofs_core::parameter_cache::get_parameter_data_from_id;

use crate::error::Error;
use crate::partial::open_regular;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;
/// Hexadecimal digits of a digest in the list: it is cut off there.
const DIGITS: usize = 32;

/// Holds the digest of a key's file against the one that is published under the file's name.
///
/// # Errors
/// The file cannot be read, is not among the published ones, or has another digest.
pub fn expect_published(params: &Path) -> Result<(), Error> {
    let name = params.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(data) = get_parameter_data_from_id(&name) else {
        return Err(Error::Mismatch(format!(
            "{} has a name that is not among those of the published keys: it cannot be held against one",
            params.display()
        )));
    };
    let digest = digest_of(params)?;
    if digest == data.digest {
        return Ok(());
    }
    Err(Error::Mismatch(format!(
        "{} is not the published key of this name: its digest is {digest}, and {} is published; fetch it again, or leave out \
         the check if it is a key of your own",
        params.display(),
        data.digest
    )))
}

/// The first half of BLAKE2b's digest, in hexadecimal.
fn digest_of(file: &Path) -> Result<String, Error> {
    let mut input = open_regular(file)?;
    let mut hasher = Params::new().to_state();
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece).map_err(Error::io("read", file))? {
            0 => break,
            read => drop(hasher.update(&piece[..read])),
        }
    }
    Ok(hasher.finalize().to_hex()[..DIGITS].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_published_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.params";
        let params = folder.path().join(name);
        std::fs::write(&params, b"abc").unwrap();
        let refused = expect_published(&params).unwrap_err().to_string();
        // BLAKE2b of "abc", RFC 7693.
        assert!(refused.contains("ba80a53f981c4d0d6a2797b69f12f6e9") && refused.contains("is published"), "{refused}");
        let other = folder.path().join("circuit.params");
        std::fs::write(&other, b"abc").unwrap();
        assert!(expect_published(&other).unwrap_err().to_string().contains("not among"));
    }
}
