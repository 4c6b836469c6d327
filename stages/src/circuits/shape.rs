//! A circuit, compiled: its sizes, its matrices, its densities.

use std::fmt;
use std::path::Path;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use pipeline_runtime::stage::Sizes;
use proofline_kernels::domain::Domain;
use proofline_kernels::scalars::DensityMap;
use proofline_kernels::sparse::{Triple, TripleBuilder};

use super::builtin::Builtin;
use super::circom::R1cs;
use super::extract::{Constraints, Counts, Known, Surveyed};
use super::record::Synthesis;
use super::rows::Rows;
use super::sha256::Sha256Preimage;
use crate::error::Error;

/// A circuit as the prover uses it, for as many proofs as one likes.
///
/// Variables are numbered inputs first (ONE is 0), auxiliary ones behind them. The matrices have the circuit's rows
/// and, behind them, one row `x · 0 = 0` for each input x, which makes A dense in the inputs; bellperson appends the
/// same rows.
pub struct CircuitShape {
    name: String,
    builtin: Option<Builtin>,
    inputs: usize,
    aux: usize,
    constraints: usize,
    domain: Domain,
    matrices: Triple,
    knows_c: bool,
    queries: Queries,
}

/// Which variables have a point in the queries that are not dense.
pub(crate) struct Queries {
    /// The inputs, and the auxiliary variables that occur in A.
    pub(crate) a: DensityMap,
    /// The variables that occur in B.
    pub(crate) b: DensityMap,
}

impl CircuitShape {
    /// The circuit that this name of a built-in family means, `sha256:4` say.
    ///
    /// # Errors
    /// There is no such circuit.
    pub fn from_builtin(name: &str) -> Result<Self, Error> {
        let builtin: Builtin = name.parse()?;
        let Builtin::Sha256 { blocks } = builtin;
        let mut shape = Self::from_circuit(name, Sha256Preimage::of_blocks(blocks))?;
        shape.builtin = Some(builtin);
        Ok(shape)
    }

    /// A bellpepper circuit; its values are not asked for. It is synthesised twice, so that its rows are never in memory all
    /// at once.
    ///
    /// # Errors
    /// The circuit's own, or it is too large.
    pub fn from_circuit<C: Circuit<Scalar> + Clone>(name: &str, circuit: C) -> Result<Self, Error> {
        Self::compile(name, Synthesis { name, circuit })
    }

    /// The circuit of a circom `.r1cs` file.
    ///
    /// # Errors
    /// The file cannot be read or understood; see [`R1cs::read`].
    pub fn from_r1cs(file: &Path) -> Result<Self, Error> {
        let name = file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.display().to_string());
        Self::from_constraints(&name, R1cs::read(file)?)
    }

    /// The circuit of circom's constraints.
    ///
    /// # Errors
    /// It is too large.
    pub fn from_constraints(name: &str, r1cs: R1cs) -> Result<Self, Error> {
        let (wires, inputs) = (r1cs.wires(), r1cs.inputs());
        let counts = Counts { inputs, aux: wires - inputs };
        Self::compile(name, Known { counts, rows: &r1cs.into_rows() })
    }

    /// The circuit of a `.zkey`, whose rows have no C and whose domain may be larger than they need.
    pub(crate) fn without_c(
        name: &str,
        inputs: usize,
        variables: usize,
        rows: &Rows,
        domain: usize,
    ) -> Result<Self, Error> {
        let counts = Counts { inputs, aux: variables - inputs };
        let mut shape = Self::compile(name, Known { counts, rows })?;
        shape.knows_c = false;
        shape.with_domain(domain)
    }

    /// The same circuit over a larger domain: keys are made for one.
    ///
    /// # Errors
    /// The domain is none, or too small for the rows.
    pub fn with_domain(mut self, size: usize) -> Result<Self, Error> {
        let rows = self.matrices.rows();
        if !size.is_power_of_two() || size < rows {
            return Err(Error::Mismatch(format!(
                "the key's domain has {size} points, and the circuit `{}` has {rows} rows (constraints and inputs): the key \
                 is of another circuit",
                self.name
            )));
        }
        if size != self.domain.size() {
            self.domain = domain_of(&self.name, size)?;
        }
        Ok(self)
    }

    fn compile(name: &str, constraints: impl Constraints) -> Result<Self, Error> {
        let surveyed = Surveyed::new(name, constraints)?;
        let refused = |fault| surveyed.refused(&fault);
        let mut builder = TripleBuilder::new(surveyed.survey.clone(), surveyed.variables()).map_err(refused)?;
        surveyed.each_row(|terms| Ok(builder.push_row(terms)?))?;
        let matrices = builder.finish().map_err(refused)?;
        Self::assemble(name.to_owned(), None, surveyed.counts.inputs, matrices)
    }

    /// A circuit of its matrices, which have one row for each input behind the circuit's own.
    pub(super) fn assemble(
        name: String,
        builtin: Option<Builtin>,
        inputs: usize,
        matrices: Triple,
    ) -> Result<Self, Error> {
        let (rows, variables) = (matrices.rows(), matrices.columns());
        let (Some(constraints), Some(aux)) = (rows.checked_sub(inputs), variables.checked_sub(inputs)) else {
            return Err(Error::Internal(format!("{rows} rows, {variables} variables and {inputs} inputs")));
        };
        let domain = domain_of(&name, rows)?;
        let [a, b, _] = matrices.column_densities();
        let queries = Queries { a: DensityMap::new(a), b: DensityMap::new(b) };
        Ok(Self { name, builtin, inputs, aux, constraints, domain, matrices, knows_c: true, queries })
    }

    /// The same matrices, as a stored circuit says of C and the domain.
    pub(super) fn stored_with(mut self, knows_c: bool, domain: usize) -> Result<Self, Error> {
        self.knows_c = knows_c;
        self.with_domain(domain)
    }

    /// The same with its products and transforms on a path of the kernels; at first it is the best that the CPU has.
    ///
    /// # Errors
    /// None that a shape which exists can have.
    pub fn with_path(self, path: proofline_kernels::Path) -> Result<Self, Error> {
        let domain = Domain::with_path(self.domain.size(), path)
            .map_err(|fault| Error::Internal(format!("the domain of `{}`: {fault}", self.name)))?;
        Ok(Self { domain, matrices: self.matrices.with_path(path), ..self })
    }

    /// The name: a built-in circuit's, a file's stem, or what the caller gave.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The built-in circuit that it is, if it is one.
    #[must_use]
    pub fn builtin(&self) -> Option<Builtin> {
        self.builtin
    }

    /// Inputs, ONE counted.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Auxiliary variables.
    #[must_use]
    pub fn aux(&self) -> usize {
        self.aux
    }

    /// Inputs and auxiliary variables.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.inputs + self.aux
    }

    /// The circuit's own constraints, without the rows appended for the inputs.
    #[must_use]
    pub fn constraints(&self) -> usize {
        self.constraints
    }

    /// The evaluation domain.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The sizes for the plan's byte formulas.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            constraints: self.constraints as u64,
            aux: self.aux as u64,
            inputs: self.inputs as u64,
            domain: self.domain.size() as u64,
            a_density: self.queries.a.count() as u64,
            b_density: self.queries.b.count() as u64,
        }
    }

    /// The memory that it takes: matrices, tables of the transforms, densities of the queries.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let Queries { a, b } = &self.queries;
        (self.matrices.bytes() + self.domain.bytes() + a.bytes() + b.bytes()) as u64
    }

    /// Whether C is known. Otherwise the matrix is empty, and a witness that does not satisfy the circuit is found out by
    /// the verification of its proof.
    #[must_use]
    pub fn knows_c(&self) -> bool {
        self.knows_c
    }

    /// The matrices A, B and C, with the rows appended for the inputs.
    #[must_use]
    pub fn matrices(&self) -> &Triple {
        &self.matrices
    }

    pub(crate) fn queries(&self) -> &Queries {
        &self.queries
    }

    /// The auxiliary variables that no constraint mentions, ascending.
    #[must_use]
    pub fn unused(&self) -> Vec<usize> {
        let used = self.matrices.column_densities();
        (self.inputs..self.variables()).filter(|column| !used.iter().any(|map| map.get(*column))).collect()
    }
}

/// The smallest domain with so many points.
pub(super) fn domain_of(name: &str, points: usize) -> Result<Domain, Error> {
    Domain::for_rows(points).map_err(|fault| Error::Mismatch(format!("the circuit `{name}` is too large: {fault}")))
}

impl fmt::Debug for CircuitShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitShape").field("name", &self.name).field("sizes", &self.sizes()).finish_non_exhaustive()
    }
}
