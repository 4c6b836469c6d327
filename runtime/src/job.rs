//! What the runtime must know of a job.

/// What the runtime must know of a job.
pub trait Job: Send + Sync + 'static {
    /// How many tokens the job is split into; at least 1.
    fn partitions(&self) -> u32;

    /// The sizes of one partition, for the byte formulas of the plan.
    fn sizes(&self) -> Sizes;

    /// How urgent it is.
    fn priority(&self) -> Priority {
        Priority::Normal
    }

    /// What it needs in memory beside tokens, and may share with other jobs: keys and matrices, say.
    fn brings(&self) -> Vec<Brought> {
        Vec::new()
    }

    /// The bytes that a worker of this stage with so many threads keeps beside its tokens, for circuits of this size.
    fn workspace(&self, _stage: &str, _threads: usize) -> u64 {
        0
    }
}

/// Something in memory that jobs bring along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brought {
    /// Which one.
    pub thing: Thing,
    /// What it is, as a table has it.
    pub what: String,
    /// Its bytes.
    pub bytes: u64,
}

/// The same for all jobs that bring the same thing, and for no other that is there at the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thing {
    /// What lies at this address.
    At(usize),
    /// What is in this place of the pipeline's [`Keeper`](crate::admission::Keeper), or will be when it is loaded.
    Kept(u64),
}

/// How urgent a job is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Priority {
    /// When nothing else is to be done.
    Low,
    /// The usual.
    #[default]
    Normal,
    /// Before the usual.
    High,
    /// At once.
    Critical,
}

/// The sizes of a circuit, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Constraints, the rows that the prover appends for the inputs not counted.
    pub constraints: u64,
    /// Auxiliary (private) variables.
    pub aux: u64,
    /// Inputs, the constant ONE counted.
    pub inputs: u64,
    /// The evaluation domain, a power of two.
    pub domain: u64,
    /// Variables that occur in A.
    pub a_density: u64,
    /// Variables that occur in B.
    pub b_density: u64,
}

impl Sizes {
    /// All of them 0.
    pub const NONE: Sizes = Sizes { constraints: 0, aux: 0, inputs: 0, domain: 0, a_density: 0, b_density: 0 };

    /// The names of the sizes, as graph files have them.
    pub const NAMES: [&'static str; 6] = ["constraints", "aux", "inputs", "domain", "a_density", "b_density"];

    /// The sizes in the order of [`Self::NAMES`].
    #[must_use]
    pub const fn each(&self) -> [u64; 6] {
        [self.constraints, self.aux, self.inputs, self.domain, self.a_density, self.b_density]
    }
}
