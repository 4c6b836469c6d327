//! Known answers of the kernels that this machine would prove with.

use proofline_kernels::Path;
use proofline_kernels::selftest;

use crate::error::Error;

/// Asks the kernels of the path that keys and domains of this machine use for answers that are known; some ten
/// milliseconds, on the rayon pool that this is called in.
///
/// # Errors
/// The first kernel whose answer is wrong: no proof of this machine would verify.
pub fn run() -> Result<(), Error> {
    Ok(selftest::run(Path::best())?)
}
