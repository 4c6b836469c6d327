//! Tiny tokens, a job and stages of their own for the cases of this package, which are compiled for real.

use pipeline_macros::stage;
/// For cases that change what the runtime declares.
pub use pipeline_runtime as runtime;
use pipeline_runtime::capability::{CcdPool, DeallocPermit, MemPermit};
use pipeline_runtime::error::StageError;
use pipeline_runtime::export::{Dead, Slot};
use pipeline_runtime::key::TokenKey;
use pipeline_runtime::plan::Bytes;
use pipeline_runtime::slot::Token;
use pipeline_runtime::stage::{Job, Sizes};

/// A job of three partitions.
#[derive(Debug)]
pub struct Sum;

impl Job for Sum {
    fn partitions(&self) -> u32 {
        3
    }

    fn sizes(&self) -> Sizes {
        Sizes { aux: 4, ..Sizes::default() }
    }
}

const OF_EACH: Bytes = Bytes { fixed: 0, per: Sizes { aux: 8, ..Sizes::NONE } };

/// Defines tokens that hold numbers.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $formula:expr),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name(pub Vec<u64>);

        impl Token for $name {
            const NAME: &'static str = stringify!($name);
            const FORMULA: Option<Bytes> = Some($formula);
            type Shape = usize;

            fn with_shape(shape: &usize) -> Self {
                Self(vec![0; *shape])
            }

            fn shape(&self) -> usize {
                self.0.len()
            }

            fn bytes(&self) -> u64 {
                8 * self.0.len() as u64
            }
        }
    )*};
}

numbers! {
    /// What the source makes.
    Numbers: OF_EACH,
    /// The squares of some numbers.
    Squares: OF_EACH,
    /// The cubes of some numbers.
    Cubes: OF_EACH,
    /// One number.
    Total: Bytes { fixed: 8, per: Sizes::NONE }
}

/// The stages, by backend.
pub mod host {
    use super::*;

    /// Makes numbers.
    #[stage(count, backend = host, ccd_pinned)]
    pub fn count(_job: &Sum, key: TokenKey, out: Slot<'_, Numbers>, cores: &CcdPool) -> Result<Numbers, StageError> {
        let mut numbers = out.take(&4);
        cores.install(|| numbers.0.fill(u64::from(key.partition)));
        Ok(numbers)
    }

    /// Squares them.
    #[stage(square, backend = host, mem_heavy)]
    pub fn square(
        _job: &Sum,
        numbers: &Numbers,
        out: Slot<'_, Squares>,
        _permit: &MemPermit,
    ) -> Result<Squares, StageError> {
        let mut squares = out.take(&numbers.0.len());
        for (square, number) in squares.0.iter_mut().zip(&numbers.0) {
            *square = number * number;
        }
        Ok(squares)
    }

    /// Cubes them, in two functions.
    #[stage(cube, backend = host)]
    pub mod cube {
        use super::*;

        /// What lies between the two.
        #[derive(Debug)]
        pub struct Pending(Vec<u64>);

        /// Squares.
        ///
        /// # Errors
        /// None.
        pub fn start(_job: &Sum, numbers: &Numbers) -> Result<Pending, StageError> {
            Ok(Pending(numbers.0.iter().map(|number| number * number).collect()))
        }

        /// Multiplies once more.
        ///
        /// # Errors
        /// None.
        pub fn finish(pending: Pending, _job: &Sum, numbers: &Numbers) -> Result<Cubes, StageError> {
            Ok(Cubes(pending.0.iter().zip(&numbers.0).map(|(square, number)| square * number).collect()))
        }
    }

    /// Adds everything up.
    #[stage(add, backend = host)]
    pub fn add(_job: &Sum, squares: &Squares, cubes: &Cubes) -> Result<Total, StageError> {
        Ok(Total(vec![squares.0.iter().chain(&cubes.0).sum()]))
    }

    /// Sends slots home.
    #[stage(dealloc, backend = host, unmaps)]
    pub fn dealloc(dead: Dead, _permit: &DeallocPermit) -> Result<(), StageError> {
        dead.go_home();
        Ok(())
    }
}
