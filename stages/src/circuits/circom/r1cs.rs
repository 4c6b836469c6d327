//! circom's `.r1cs`: constraints A·B = C over wires.
//!
//! Wire 0 is ONE; outputs, public inputs, private inputs and intermediate wires follow. So outputs and public inputs
//! are the circuit's inputs, and the other wires its auxiliary variables, in the order of the file.

use std::path::Path;

use blstrs::Scalar;

use crate::circuits::rows::Rows;
use crate::error::Error;
use crate::iden3::{Container, Cursor, SCALAR_BYTES, SectionFile, expect_bls12_381, expect_end};

const MAGIC: &str = "r1cs";
const VERSION: u32 = 1;

const HEADER: u32 = 1;
const CONSTRAINTS: u32 = 2;
const LABELS: u32 = 3;

/// The bytes of a term: the wire's number and the coefficient.
const TERM_BYTES: u64 = 4 + SCALAR_BYTES;
/// The least bytes of a constraint: three empty sums.
const LEAST_CONSTRAINT_BYTES: u64 = 3 * 4;
/// The bytes of a wire's label.
const LABEL_BYTES: u64 = 8;

/// The constraints of a circom circuit. Every wire that they name is below [`Self::wires`].
#[derive(Debug, Clone)]
pub struct R1cs {
    wires: usize,
    inputs: usize,
    rows: Rows,
}

impl R1cs {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, is cut off, damaged, or over another field.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let sections = SectionFile::open(file, MAGIC, VERSION)?;
        let (header, header_offset) = sections.read_header(HEADER)?;
        let labels = sections.section(LABELS, "the wires' labels")?;
        let rows = sections.section(CONSTRAINTS, "the constraints")?;
        // What else is in the file, labels above all, is not read.
        let rows_bytes = sections.read_small(rows)?;
        let header = Cursor::at(file, &header, header_offset);
        Self::from_sections(header, labels.length, Cursor::at(file, &rows_bytes, rows.offset))
    }

    /// Reads a file's bytes; `file` is its name in errors.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let container = Container::open(file, bytes, MAGIC, VERSION)?;
        let labels = container.section(LABELS, "the wires' labels")?.left();
        let header = container.section(HEADER, "the header")?;
        Self::from_sections(header, labels, container.section(CONSTRAINTS, "the constraints")?)
    }

    fn from_sections(mut header: Cursor<'_>, labels: u64, mut rows: Cursor<'_>) -> Result<Self, Error> {
        expect_bls12_381(&mut header)?;
        let at = header.offset();
        let wires = header.u32("the number of wires")?;
        // Each wire has a label, which bounds the number that the header gives before anything is made for them.
        let wires = header.check_count_in(labels, at, u64::from(wires), LABEL_BYTES, "the number of wires")?;
        let outputs = header.u32("the number of outputs")?;
        let public = header.u32("the number of public inputs")?;
        // Not held against the wires: circom counts private inputs here that occur in no constraint, and drops their wires.
        header.u32("the number of private inputs")?;
        header.u64("the number of labels")?;
        let count_at = header.offset();
        let constraints = header.u32("the number of constraints")?;
        expect_end(&header, "the header")?;

        let inputs = 1 + u64::from(outputs) + u64::from(public);
        if inputs > wires as u64 {
            let fault = format!(
                "{wires} wires cannot hold ONE, {outputs} outputs and {public} public inputs; the file is damaged"
            );
            return Err(header.malformed(at, fault));
        }

        let constraints =
            rows.check_count(count_at, u64::from(constraints), LEAST_CONSTRAINT_BYTES, "the number of constraints")?;
        let most_terms = (rows.left() - LEAST_CONSTRAINT_BYTES * constraints as u64) / TERM_BYTES;
        let mut read = Rows::with_capacity(usize::try_from(most_terms).unwrap_or(0), constraints);
        for row in 0..constraints {
            for side in ["A", "B", "C"] {
                read_sum(&mut rows, wires, row, side, &mut read)?;
            }
        }
        expect_end(&rows, "the constraints")?;
        Ok(Self { wires, inputs: inputs as usize, rows: read })
    }

    /// Wires, ONE counted.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// Public wires: ONE, outputs, public inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Constraints.
    #[must_use]
    pub fn constraints(&self) -> usize {
        self.rows.len()
    }

    /// The sums A, B and C of a constraint, as wires and coefficients, in the order of the file.
    ///
    /// # Panics
    /// `row` is not below [`Self::constraints`].
    #[must_use]
    pub fn row(&self, row: usize) -> [&[(u32, Scalar)]; 3] {
        self.rows.row(row)
    }

    pub(crate) fn into_rows(self) -> Rows {
        self.rows
    }
}

/// Reads a sum.
fn read_sum(rows: &mut Cursor<'_>, wires: usize, row: usize, side: &str, read: &mut Rows) -> Result<(), Error> {
    let count = rows.count(TERM_BYTES, &format!("the number of terms of {side} in constraint {row}"))?;
    for _ in 0..count {
        let at = rows.offset();
        let wire = rows.u32("a wire")?;
        if wire as usize >= wires {
            let fault = format!("{side} of constraint {row} names wire {wire}, and the circuit has {wires} wires");
            return Err(rows.malformed(at, fault));
        }
        let coefficient = rows.scalar("a coefficient")?;
        read.push(wire, coefficient);
    }
    read.close();
    Ok(())
}
