//! Setup: a key for a circuit from five secrets.
//!
//! The machine that runs this knows the secrets for a moment, and whoever knows them can prove anything. A key that
//! others must trust comes from a ceremony; this one is for tests, for development, and for provers who are their own
//! verifiers.
//!
//! Variables that no constraint mentions are allowed: their point in L is the point at infinity (arkworks does the
//! same). bellperson refuses such circuits at setup.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field;
use group::Group;
use proofline_kernels::domain::{Domain, OddCosetBasis};
use proofline_kernels::fixed_base::Table;
use proofline_kernels::scalars::DensityMap;
use proofline_kernels::sparse::Triple;
use rand::rngs::OsRng;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{Convention, Parameters, VerifyingKey};
use crate::circuits::CircuitShape;
use crate::error::Error;
use crate::progress::{Progress, Watch};
use crate::secret::SecretScalars;

/// Products between two reports of progress, made in parallel.
const SCALARS_PER_PIECE: usize = 1 << 16;
/// Draws of secrets before giving up; one in about 2^220 is unlucky.
const MOST_DRAWS: usize = 3;

/// Where the secrets come from.
pub enum Entropy<'a> {
    /// The operating system.
    System,
    /// A text: the same circuit and text give the same key, and whoever knows the text can forge proofs.
    Seed(&'a str),
}

/// Makes a key as bellperson has it. Parallel work runs on the rayon pool that this is called in.
///
/// # Errors
/// The secrets were drawn unluckily several times over, which means that the source of randomness is broken.
pub fn generate(shape: &CircuitShape, entropy: &Entropy<'_>, watch: Watch<'_>) -> Result<Parameters, Error> {
    generate_for(shape, Convention::Coefficients, entropy, watch)
}

/// Makes a key for a convention; for the odd coset γ is 1, as in every key of snarkjs.
///
/// # Errors
/// As [`generate`].
pub fn generate_for(
    shape: &CircuitShape,
    convention: Convention,
    entropy: &Entropy<'_>,
    watch: Watch<'_>,
) -> Result<Parameters, Error> {
    let mut seed = Zeroizing::new([0; 32]);
    match entropy {
        Entropy::System => OsRng.fill_bytes(seed.as_mut()),
        Entropy::Seed(text) => seed.copy_from_slice(&Sha256::digest(text.as_bytes())),
    }
    let mut rng = ChaCha20Rng::from_seed(*seed);
    for _ in 0..MOST_DRAWS {
        let secrets = Secrets::draw(convention, &mut rng);
        if let Some(exponents) = Exponents::of(shape, convention, &secrets) {
            return Ok(raise(convention, &secrets, &exponents, watch));
        }
    }
    Err(Error::Internal(format!("{MOST_DRAWS} draws of secrets were degenerate: the source of randomness is broken")))
}

/// α, β, γ, δ, τ.
struct Secrets(SecretScalars);

impl Secrets {
    fn draw(convention: Convention, rng: &mut ChaCha20Rng) -> Self {
        let mut secrets = [(); 5].map(|()| Scalar::random(&mut *rng));
        if convention == Convention::OddCoset {
            secrets[2] = Scalar::ONE;
        }
        Self(SecretScalars::from(secrets.to_vec()))
    }

    fn all(&self) -> [Scalar; 5] {
        [0, 1, 2, 3, 4].map(|i| self.0[i])
    }
}

/// The discrete logarithms of the key's points.
struct Exponents {
    h: SecretScalars,
    ic: SecretScalars,
    l: SecretScalars,
    a: SecretScalars,
    b: SecretScalars,
}

impl Exponents {
    /// `None` if the secrets do not do for this circuit: one is zero, τ is in the domain, or a polynomial that is not
    /// zero vanishes at τ (bellperson would leave its point out, and the prover would not).
    fn of(shape: &CircuitShape, convention: Convention, secrets: &Secrets) -> Option<Self> {
        let [alpha, beta, gamma, delta, _] = secrets.all();
        if [alpha, beta].contains(&Scalar::ZERO) {
            return None;
        }
        let gamma_inverse = Option::<Scalar>::from(gamma.invert())?;
        let delta_inverse = Option::<Scalar>::from(delta.invert())?;
        let Basis { lagrange, h } = Basis::at(shape.domain(), convention, secrets, delta_inverse)?;
        let matrices = shape.matrices();
        let (a, (b, c)) = rayon::join(
            || columns_at_tau(matrices, 0, &lagrange),
            || rayon::join(|| columns_at_tau(matrices, 1, &lagrange), || columns_at_tau(matrices, 2, &lagrange)),
        );
        let mut mixed = SecretScalars::zeros(shape.variables());
        for (i, place) in mixed.iter_mut().enumerate() {
            let inverse = if i < shape.inputs() { gamma_inverse } else { delta_inverse };
            *place = (beta * a[i] + alpha * b[i] + c[i]) * inverse;
        }
        let (ic, l) = mixed.split_at(shape.inputs());
        let dense = |column: &[Scalar], density: &DensityMap| -> SecretScalars {
            density.ones().map(|variable| column[variable]).collect::<Vec<_>>().into()
        };
        let queries = shape.queries();
        let (a, b) = (dense(&a, &queries.a), dense(&b, &queries.b));
        if a.contains(&Scalar::ZERO) || b.contains(&Scalar::ZERO) || ic.contains(&Scalar::ZERO) {
            return None;
        }
        Some(Self { h, ic: ic.to_vec().into(), l: l.to_vec().into(), a, b })
    }
}

/// What depends on the convention alone.
struct Basis {
    /// The Lagrange polynomials of the domain at τ, a row's at the place of the row.
    lagrange: SecretScalars,
    h: SecretScalars,
}

impl Basis {
    /// `None` if τ is zero or in the domain.
    fn at(domain: &Domain, convention: Convention, secrets: &Secrets, delta_inverse: Scalar) -> Option<Self> {
        let [.., tau] = secrets.all();
        let size = domain.size();
        if convention == Convention::OddCoset {
            let OddCosetBasis { on_domain, mut on_odd_coset } = OddCosetBasis::at(domain.log_size(), tau)?;
            on_odd_coset.iter_mut().for_each(|value| *value *= delta_inverse);
            return Some(Self { lagrange: on_domain.into(), h: on_odd_coset.into() });
        }
        let vanishing = tau.pow_vartime([size as u64]) - Scalar::ONE;
        if [tau, vanishing].contains(&Scalar::ZERO) {
            return None;
        }
        let mut powers = SecretScalars::zeros(size);
        let mut power = Scalar::ONE;
        for place in powers.iter_mut() {
            *place = power;
            power *= tau;
        }
        let mut h = SecretScalars::zeros(size - 1);
        let factor = vanishing * delta_inverse;
        h.iter_mut().zip(powers.iter()).for_each(|(h, power)| *h = *power * factor);
        // The inverse transform of τ^0, τ^1, … is the Lagrange basis at τ.
        let mut lagrange = powers;
        domain.ifft(&mut lagrange);
        Some(Self { lagrange, h })
    }
}

/// Each column's polynomial of a matrix at τ: Σ over rows of coefficient · Lagrange polynomial of the row.
fn columns_at_tau(matrices: &Triple, which: usize, lagrange: &[Scalar]) -> SecretScalars {
    let mut columns = SecretScalars::zeros(matrices.columns());
    matrices.for_each_row(|row, rows| {
        for (column, coefficient) in rows[which].terms() {
            columns[column as usize] += *coefficient * lagrange[row];
        }
    });
    columns
}

/// The points of the exponents, over the standard generators.
fn raise(convention: Convention, secrets: &Secrets, exponents: &Exponents, watch: Watch<'_>) -> Parameters {
    let [alpha, beta, gamma, delta, _] = secrets.all();
    let Exponents { h, ic, l, a, b } = exponents;
    let (g1, g2) = (G1Projective::generator(), G2Projective::generator());
    let in_g1 = Table::<G1Affine>::new(g1, h.len() + ic.len() + l.len() + a.len() + b.len());
    let in_g2 = Table::<G2Affine>::new(g2, b.len());
    let g1_points = |what, scalars: &[Scalar]| in_pieces(what, scalars, watch, |piece| in_g1.mul_many(piece));
    Parameters {
        convention,
        vk: VerifyingKey {
            alpha_g1: G1Affine::from(&(g1 * alpha)),
            beta_g1: G1Affine::from(&(g1 * beta)),
            beta_g2: G2Affine::from(&(g2 * beta)),
            gamma_g2: G2Affine::from(&(g2 * gamma)),
            delta_g1: G1Affine::from(&(g1 * delta)),
            delta_g2: G2Affine::from(&(g2 * delta)),
            ic: g1_points("ic", ic),
        },
        h: g1_points("h", h),
        l: g1_points("l", l),
        a: g1_points("a", a),
        b_g1: g1_points("b_g1", b),
        b_g2: in_pieces("b_g2", b, watch, |piece| in_g2.mul_many(piece)),
    }
}

fn in_pieces<P>(
    what: &'static str,
    scalars: &[Scalar],
    watch: Watch<'_>,
    multiply: impl Fn(&[Scalar]) -> Vec<P>,
) -> Vec<P> {
    let total = scalars.len() as u64;
    let mut points = Vec::with_capacity(scalars.len());
    for piece in scalars.chunks(SCALARS_PER_PIECE) {
        watch(Progress { what, done: points.len() as u64, total });
        points.extend(multiply(piece));
    }
    watch(Progress { what, done: total, total });
    points
}
