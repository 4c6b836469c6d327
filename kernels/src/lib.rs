//! BLS12-381 arithmetic for Groth16: sparse products, transforms, multi-scalar multiplication.
//!
//! Everything here is a plain function of its arguments. Parallel work runs on the rayon pool that the caller has
//! installed (`pool.install(|| …)`); this crate owns no pool, no thread and no global state.
//!
//! - [`sparse`]: constraint matrices with dictionary-coded coefficients, and their product with a witness
//! - [`domain`]: radix-2 evaluation domains, transforms, and the quotient in both conventions
//! - [`scalars`]: the scalars of one query, sorted by what they cost (0, ±1, small, full)
//! - [`msm`]: multi-scalar multiplication over G1 and G2
//! - [`fixed_base`]: many multiples of one base, for setup
//! - [`limits`]: what the multipliers can do at most, for benches
//! - [`selftest`]: known answers of the kernels of a [`Path`], for start-up

pub use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};

pub use msm::fixed_base;
pub use path::Path;

pub mod domain;
pub mod limits;
pub mod msm;
pub mod scalars;
pub mod selftest;
pub mod sparse;

mod fetch;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod path;
mod shelf;
mod words;
