//! The quotient polynomial of a Groth16 proof, in both conventions.

use std::sync::OnceLock;

use ff::Field;
use rayon::prelude::*;

use super::reverse::reverse;
use super::roots;
use super::transform::{Scale, Transforms};
use super::{Convention, Domain};
use crate::{Path, Scalar};

/// Entries that one task of the pointwise step takes.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// What quotients of one domain need beside its transforms: made once, so that a proof allocates nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    /// The scales to the coset of 7, and back to coefficients.
    coefficients: OnceLock<[Scale; 2]>,
    /// snarkjs' transforms, and the scale to the odd coset.
    odd_coset: OnceLock<(Transforms, Scale)>,
}

/// Coefficients of (A·B − C)/Z: three inverse transforms, three on the coset of 7, one inverse on the coset.
pub(super) fn coefficients(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    let generator = roots::coset_generator();
    let backward = &domain.transforms.backward;
    let [to_coset, from_coset] = coset_scales(domain);
    transform(&domain.transforms, to_coset, [&mut *a, &mut *b, &mut *c]);
    // On the coset Z has the single value g^size − 1; g is no root of unity of this order, so it is not zero.
    let z_inverse = roots::inverse(generator.pow_vartime([domain.size() as u64]) - Scalar::ONE);
    combine(domain.path, a, b, c, z_inverse);
    backward.to_reversed(a, Some(from_coset));
    reverse(a);
}

/// Values of A·B − C on the odd coset, where C interpolates A·B on the domain; the roots are snarkjs'.
pub(super) fn odd_coset(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    pointwise(c, a, b, |_, a, b| *a * b);
    let (transforms, scale) = odd_coset_tables(domain);
    transform(transforms, scale, [&mut *a, &mut *b, &mut *c]);
    combine(domain.path, a, b, c, Scalar::ONE);
}

/// The scales to the coset of 7, and back to coefficients.
///
/// What is made here, and in [`odd_coset_tables`], is made without rayon: several quotients of one pool may ask for it at once,
/// and a thread that waited for others in the middle could take up one of these, which would wait for itself.
pub(super) fn coset_scales(domain: &Domain) -> &[Scale; 2] {
    let generator = roots::coset_generator();
    let scale = |base| domain.transforms.backward.scale(base, domain.size_inverse());
    domain.quotients.coefficients.get_or_init(|| [generator, roots::inverse(generator)].map(scale))
}

/// snarkjs' transforms, and the scale to the odd coset.
pub(super) fn odd_coset_tables(domain: &Domain) -> &(Transforms, Scale) {
    domain.quotients.odd_coset.get_or_init(|| {
        let root = roots::root_of_unity(Convention::OddCoset, domain.log_size());
        let shift = roots::root_of_unity(Convention::OddCoset, domain.log_size() + 1);
        let transforms = Transforms::new(domain.path, root, domain.log_size());
        let scale = transforms.backward.scale(shift, domain.size_inverse());
        (transforms, scale)
    })
}

/// Values on the domain to values on the coset of a scale, both in natural order.
fn transform(transforms: &Transforms, scale: &Scale, arrays: [&mut [Scalar]; 3]) {
    for x in arrays {
        transforms.backward.to_reversed(x, Some(scale));
        transforms.forward.to_natural(x);
    }
}

/// `a[i] ← (a[i]·b[i] − c[i])·factor`.
fn combine(path: Path, a: &mut [Scalar], b: &[Scalar], c: &[Scalar], factor: Scalar) {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Ifma(proof) => crate::ifma::pointwise::combine(proof, a, b, c, factor),
        _ => pointwise(a, b, c, |a, b, c| (*a * b - c) * factor),
    }
}

/// `x[i] ← f(x[i], y[i], z[i])`.
fn pointwise(
    x: &mut [Scalar],
    y: &[Scalar],
    z: &[Scalar],
    f: impl Fn(&Scalar, &Scalar, &Scalar) -> Scalar + Sync + Send,
) {
    let entries = x.par_iter_mut().with_min_len(ELEMENTS_PER_TASK).zip(y).zip(z);
    entries.for_each(|((x, y), z)| *x = f(x, y, z));
}
