//! What travels on the edges: the memory of one partition between two stages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use blstrs::{G1Projective, G2Projective, Scalar};
use group::Group;
use pipeline_runtime::plan::Bytes;
use pipeline_runtime::slot::Token;
use pipeline_runtime::stage::Sizes;
use proofline_kernels::scalars::{self, ScalarSet};
use proofline_memory::Arena;

use crate::secret::{SecretScalars, wipe_scalars};

/// The bytes of a scalar in memory.
const SCALAR_BYTES: u64 = size_of::<Scalar>() as u64;

/// The bytes that a classified scalar has room for: any scalar, with its position.
const CLASSIFIED_BYTES: u64 = scalars::BYTES_EACH as u64;

/// The bytes of a proof: A (48), B (96), C (48), compressed.
pub const PROOF_BYTES: usize = 192;

/// The variables' values, inputs first, ONE at 0. Secret.
pub struct Witness {
    /// The values.
    pub values: SecretScalars,
}

impl Token for Witness {
    const NAME: &'static str = "Witness";
    const FORMULA: Option<Bytes> =
        Some(Bytes { fixed: 0, per: Sizes { inputs: SCALAR_BYTES, aux: SCALAR_BYTES, ..Sizes::NONE } });
    /// The number of variables.
    type Shape = usize;

    fn with_shape(variables: &usize) -> Self {
        Self { values: SecretScalars::zeros(*variables) }
    }

    fn in_arena(variables: &usize, arena: &Arena) -> Self {
        Self { values: SecretScalars::zeros_in(arena, *variables) }
    }

    fn shape(&self) -> usize {
        self.values.len()
    }

    fn bytes(&self) -> u64 {
        SCALAR_BYTES * self.values.len() as u64
    }

    fn wipe(&mut self) {
        self.values.wipe();
    }
}

/// The products A·w, B·w and C·w over the domain; rows behind the last one are zero. Secret.
pub struct Evaluated {
    domain: usize,
    columns: Mutex<Columns>,
}

/// The three vectors of an [`Evaluated`].
pub struct Columns {
    /// A·w.
    pub a: SecretScalars,
    /// B·w.
    pub b: SecretScalars,
    /// C·w.
    pub c: SecretScalars,
    /// Set by the reader that turned the vectors into the quotient, which destroys them.
    pub spent: bool,
}

impl Evaluated {
    /// Three vectors of one length.
    fn of([a, b, c]: [SecretScalars; 3]) -> Self {
        Self { domain: a.len(), columns: Mutex::new(Columns { a, b, c, spent: false }) }
    }

    /// The vectors, for the stage that writes them or the one that uses them up.
    ///
    /// The quotient is computed in place, for a copy would be three times the largest vector of the prover. The lock
    /// is what lets the single reader do that through a shared token; nobody ever waits for it.
    pub fn columns(&self) -> MutexGuard<'_, Columns> {
        // A panic of the reader leaves the vectors half transformed; that token's proof has failed then, and the
        // next firing writes all of them.
        self.columns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of the domain: the length of each vector.
    #[must_use]
    pub fn domain(&self) -> usize {
        self.domain
    }
}

impl Token for Evaluated {
    const NAME: &'static str = "Evaluated";
    const FORMULA: Option<Bytes> = Some(Bytes { fixed: 0, per: Sizes { domain: 3 * SCALAR_BYTES, ..Sizes::NONE } });
    /// The size of the domain.
    type Shape = usize;

    fn with_shape(domain: &usize) -> Self {
        Self::of([(); 3].map(|()| SecretScalars::zeros(*domain)))
    }

    fn in_arena(domain: &usize, arena: &Arena) -> Self {
        Self::of([(); 3].map(|()| SecretScalars::zeros_in(arena, *domain)))
    }

    fn shape(&self) -> usize {
        self.domain
    }

    fn bytes(&self) -> u64 {
        3 * SCALAR_BYTES * self.domain as u64
    }

    fn wipe(&mut self) {
        let columns = self.columns.get_mut().unwrap_or_else(PoisonError::into_inner);
        [&mut columns.a, &mut columns.b, &mut columns.c].into_iter().for_each(|column| wipe_scalars(column));
    }
}

/// The witness, sorted by what its scalars cost, for all queries that are summed over it. Secret.
pub struct Classified {
    variables: usize,
    /// The variables, inputs first.
    pub scalars: ScalarSet,
}

impl Token for Classified {
    const NAME: &'static str = "Classified";
    const FORMULA: Option<Bytes> =
        Some(Bytes { fixed: 0, per: Sizes { inputs: CLASSIFIED_BYTES, aux: CLASSIFIED_BYTES, ..Sizes::NONE } });
    /// The number of variables.
    type Shape = usize;

    fn with_shape(variables: &usize) -> Self {
        Self { variables: *variables, scalars: ScalarSet::new() }
    }

    fn in_arena(variables: &usize, arena: &Arena) -> Self {
        Self { variables: *variables, scalars: ScalarSet::in_arena(arena, *variables) }
    }

    fn shape(&self) -> usize {
        self.variables
    }

    fn bytes(&self) -> u64 {
        CLASSIFIED_BYTES * self.variables as u64
    }

    fn wipe(&mut self) {
        self.scalars.wipe();
    }
}

/// The sums in G1. Without r and s they say something of the witness: secret.
pub struct SumsG1 {
    /// Quotient coefficients times H.
    pub h: G1Projective,
    /// Auxiliary variables times L.
    pub l: G1Projective,
    /// Variables times A.
    pub a: G1Projective,
    /// Variables times B in G1.
    pub b_g1: G1Projective,
}

impl Token for SumsG1 {
    const NAME: &'static str = "SumsG1";
    const FORMULA: Option<Bytes> = Some(Bytes { fixed: 576, per: Sizes::NONE });
    type Shape = ();

    fn with_shape((): &()) -> Self {
        let [h, l, a, b_g1] = [G1Projective::identity(); 4];
        Self { h, l, a, b_g1 }
    }

    fn shape(&self) {}

    fn bytes(&self) -> u64 {
        size_of::<Self>() as u64
    }

    fn wipe(&mut self) {
        *self = Self::with_shape(&());
        std::hint::black_box(self);
    }
}

/// The sum in G2. Secret, as [`SumsG1`].
pub struct SumG2 {
    /// Variables times B in G2.
    pub b: G2Projective,
}

impl Token for SumG2 {
    const NAME: &'static str = "SumG2";
    const FORMULA: Option<Bytes> = Some(Bytes { fixed: 288, per: Sizes::NONE });
    type Shape = ();

    fn with_shape((): &()) -> Self {
        Self { b: G2Projective::identity() }
    }

    fn shape(&self) {}

    fn bytes(&self) -> u64 {
        size_of::<Self>() as u64
    }

    fn wipe(&mut self) {
        *self = Self::with_shape(&());
        std::hint::black_box(self);
    }
}

/// A proof, verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// A (48), B (96), C (48), compressed, as bellperson writes them.
    pub bytes: [u8; PROOF_BYTES],
}

impl Token for Proof {
    const NAME: &'static str = "Proof";
    const FORMULA: Option<Bytes> = Some(Bytes { fixed: PROOF_BYTES as u64, per: Sizes::NONE });
    type Shape = ();

    fn with_shape((): &()) -> Self {
        Self { bytes: [0; PROOF_BYTES] }
    }

    fn shape(&self) {}

    fn bytes(&self) -> u64 {
        PROOF_BYTES as u64
    }
}
