//! Which implementation of the kernels runs.

#[cfg(target_arch = "x86_64")]
use crate::ifma::Ifma;

/// An implementation of the kernels. All give the same results, bit for bit.
///
/// Chosen once, at construction ([`Path::best`]), and passed as a value: there is no process-wide switch, so that a test
/// or a bench can run both side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Path {
    /// The scalar arithmetic of blst; runs everywhere.
    Portable,
    /// Eight lanes of 52-bit limbs with AVX-512 IFMA.
    #[cfg(target_arch = "x86_64")]
    Ifma(Ifma),
}

impl Path {
    /// The fastest path that this CPU has.
    pub fn best() -> Self {
        Self::ifma().unwrap_or(Self::Portable)
    }

    /// The AVX-512 IFMA path, if this CPU has it.
    pub fn ifma() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return Ifma::detect().map(Self::Ifma);
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Every path that this CPU has, the portable one first.
    pub fn all() -> Vec<Self> {
        std::iter::once(Self::Portable).chain(Self::ifma()).collect()
    }

    /// A word for logs and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(_) => "avx512-ifma",
        }
    }
}
