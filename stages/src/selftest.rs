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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    #[test]
    fn a_wrong_kernel_is_an_internal_fault_that_names_it() {
        let error = Error::from(selftest::SelfTestError::Wrong { kernel: "transform", path: "avx512-ifma" });
        assert_eq!(error.class(), Class::Internal);
        assert!(error.to_string().contains("transform kernel"), "{error}");
    }
}
