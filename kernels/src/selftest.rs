//! A known-answer test of the chosen kernels, for start-up.
//!
//! A CPU, hypervisor or compiler that gets one vector instruction wrong would otherwise show as proofs that do not
//! verify. Takes some ten milliseconds on one thread.

use ff::Field;

use crate::domain::{Convention, Domain, DomainError};
use crate::msm::{Curve, Query, Workspace, affine_many};
use crate::scalars::ScalarSet;
use crate::sparse::{MatrixBuilder, SparseError, Triple};
use crate::{G1Affine, G2Affine, Path, Scalar};

/// A kernel that gave a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelfTestError {
    /// Results differ from the known ones.
    #[error(
        "the {kernel} kernel gives a wrong result on the {path} path: do not prove on this machine with this path; \
             choose the portable one or report the CPU model"
    )]
    Wrong {
        /// Which kernel.
        kernel: &'static str,
        /// On which path.
        path: &'static str,
    },
    /// The transforms' test could not be set up.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The sparse product's test could not be set up.
    #[error(transparent)]
    Sparse(#[from] SparseError),
}

/// Points of G1's test query: so many that a window of the small scalars takes more than one batch, with a rest.
const G1_POINTS: usize = 2500;
/// Points of G2's: groups of lanes with a rest. What goes on between batches is the same code in both groups.
const G2_POINTS: usize = 93;
/// Points of the dense multiplication, which takes every scalar for a full one.
const DENSE_POINTS: usize = 71;
/// Points of the test domain: two stages of different length in both passes.
const ROWS: usize = 1 << 11;

/// Runs every kernel of a path on inputs with known results.
///
/// # Errors
/// The first kernel that is wrong.
pub fn run(path: Path) -> Result<(), SelfTestError> {
    run_with(path, |_| Scalar::ZERO)
}

/// [`run`] of kernels whose results are off by what `slip` says of each: how the test of the self-test makes wrong ones.
fn run_with(path: Path, slip: impl Fn(&str) -> Scalar) -> Result<(), SelfTestError> {
    let check = |kernel, right: bool| right.then_some(()).ok_or(SelfTestError::Wrong { kernel, path: path.name() });
    check(G1_MULTIPLICATION, msm::<G1Affine>(path, G1_POINTS, slip(G1_MULTIPLICATION)))?;
    check(G2_MULTIPLICATION, msm::<G2Affine>(path, G2_POINTS, slip(G2_MULTIPLICATION)))?;
    check(TRANSFORM, transform(path, slip(TRANSFORM))?)?;
    check(QUOTIENT, quotient(path, slip(QUOTIENT))?)?;
    check(SPARSE_PRODUCT, sparse(path, slip(SPARSE_PRODUCT))?)
}

const G1_MULTIPLICATION: &str = "G1 multiplication";
const G2_MULTIPLICATION: &str = "G2 multiplication";
const TRANSFORM: &str = "transform";
const QUOTIENT: &str = "quotient";
const SPARSE_PRODUCT: &str = "sparse product";

/// Points k·G, scalars of all classes: the sum is one product of G.
fn msm<C: Curve>(path: Path, points: usize, slip: Scalar) -> bool {
    let generator = C::standard_generator();
    let mut at = C::zero();
    let walk: Vec<_> = (0..points)
        .map(|_| {
            at += &generator;
            at
        })
        .collect();
    // Iterated squares run through all sizes of limbs. Most scalars are small, of either sign: they have a quarter of the
    // windows, and go through the same additions.
    let (mut power, mut word) = (Scalar::from(7), 7u64);
    let scalars: Vec<Scalar> = (0..points)
        .map(|k| {
            power = power.square() + Scalar::ONE;
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            match k % 16 {
                0 => Scalar::ONE,
                1 => power,
                2 => -Scalar::from(word),
                _ => Scalar::from(word),
            }
        })
        .collect();
    let sum_of = |count: usize| {
        let factors = scalars[..count].iter().zip(1..).map(|(scalar, k)| *scalar * Scalar::from(k));
        C::Projective::from(generator) * factors.sum::<Scalar>()
    };
    let multiples: Vec<C> = affine_many(&walk);
    let dense = Query::<C>::with_path(multiples[..DENSE_POINTS].to_vec(), path);
    let query = Query::<C>::with_path(multiples, path);
    let mut set = ScalarSet::new();
    set.fill(&scalars, None);
    let workspace = Workspace::new();
    let slip = C::Projective::from(generator) * slip;
    query.msm(&set, &workspace) + slip == sum_of(points)
        && dense.msm_dense(&scalars[..DENSE_POINTS], &workspace) + slip == sum_of(DENSE_POINTS)
}

/// The transform of 1, x, x², … has known values: (1 − xⁿ)/(1 − x·ωᵏ).
fn transform(path: Path, slip: Scalar) -> Result<bool, DomainError> {
    let domain = Domain::with_path(ROWS, path)?;
    let base = Scalar::from(3);
    let mut power = Scalar::ONE;
    let geometric: Vec<Scalar> = (0..ROWS)
        .map(|_| {
            let entry = power;
            power *= base;
            entry
        })
        .collect();
    let mut x = geometric.clone();
    domain.fft(&mut x);
    x[ROWS / 3] += slip;
    let mut at = base;
    let right = x.iter().all(|value| {
        let right = *value * (Scalar::ONE - at) == Scalar::ONE - power;
        at *= domain.root();
        right
    });
    domain.ifft(&mut x);
    Ok(right && x == geometric)
}

/// With A = B and C = A·B the quotient times Z is A·B − C at a point outside the domain.
fn quotient(path: Path, slip: Scalar) -> Result<bool, DomainError> {
    let domain = Domain::with_path(ROWS, path)?;
    let mut value = Scalar::from(11);
    let mut a: Vec<Scalar> = (0..ROWS)
        .map(|_| {
            value = value.square() - Scalar::from(5);
            value
        })
        .collect();
    let mut b = a.clone();
    let mut c: Vec<Scalar> = a.iter().map(Scalar::square).collect();
    let mut coefficients = [a.clone(), c.clone()];
    coefficients.iter_mut().for_each(|x| domain.ifft(x));
    domain.quotient(Convention::Coefficients, &mut a, &mut b, &mut c);
    a[ROWS / 3] += slip;
    let point = Scalar::from(1_000_003);
    let evaluate = |x: &[Scalar]| x.iter().rev().fold(Scalar::ZERO, |sum, entry| sum * point + entry);
    let z = point.pow_vartime([ROWS as u64]) - Scalar::ONE;
    let [a_polynomial, c_polynomial] = coefficients.map(|x| evaluate(&x));
    Ok(evaluate(&a) * z == a_polynomial.square() - c_polynomial)
}

/// Rows of all kinds of coefficients and of all lengths up to a few segments, against the definition.
fn sparse(path: Path, slip: Scalar) -> Result<bool, SparseError> {
    const COLUMNS: u32 = 77;
    let mut power = Scalar::from(3);
    let w: Vec<Scalar> = (0..COLUMNS)
        .map(|_| {
            power = power.square() + Scalar::ONE;
            power
        })
        .collect();
    let coefficients = [Scalar::ONE, -Scalar::ONE, Scalar::from(2), power];
    let mut builders = [(); 3].map(|()| MatrixBuilder::new(COLUMNS as usize));
    let mut want = [(); 3].map(|()| Vec::new());
    for row in 0..100 {
        for (m, (builder, want)) in builders.iter_mut().zip(&mut want).enumerate() {
            // A has rows alike, B rows of one variable, C rows that are all different.
            let coefficient = |column: u32| coefficients[[column, 0, column * column + row][m] as usize % 4];
            let terms: Vec<_> =
                (0..[3, 1, row % COLUMNS][m]).map(|column| (column + row % 7, coefficient(column))).collect();
            let terms: Vec<_> = terms.into_iter().filter(|(column, _)| *column < COLUMNS).collect();
            builder.push_row(&terms)?;
            want.push(terms.iter().map(|(column, value)| w[*column as usize] * value).sum::<Scalar>());
        }
    }
    let [a, b, c] = builders.map(MatrixBuilder::finish);
    let triple = Triple::new(&a, &b, &c)?.with_path(path);
    let mut got = want.clone().map(|rows| vec![Scalar::ONE; rows.len()]);
    let [a, b, c] = &mut got;
    triple.mul_into(&w, a, b, c);
    c[7] += slip;
    Ok(got == want)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_passes() {
        for path in Path::all() {
            assert_eq!(run(path), Ok(()), "{}", path.name());
        }
    }

    #[test]
    fn a_kernel_that_is_wrong_is_found_and_named() {
        for path in Path::all() {
            for kernel in [G1_MULTIPLICATION, G2_MULTIPLICATION, TRANSFORM, QUOTIENT, SPARSE_PRODUCT] {
                let wrong = run_with(path, |name| if name == kernel { Scalar::ONE } else { Scalar::ZERO });
                assert_eq!(wrong, Err(SelfTestError::Wrong { kernel, path: path.name() }));
            }
        }
    }

    #[test]
    fn the_error_names_kernel_and_path() {
        let error = SelfTestError::Wrong { kernel: "transform", path: "avx512-ifma" };
        assert!(error.to_string().contains("transform kernel gives a wrong result on the avx512-ifma path"));
    }
}
