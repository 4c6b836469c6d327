//! Writing stored circuits: of a circuit in memory, or piece by piece while it is compiled.

use std::path::Path;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use proofline_kernels::sparse::{Blocks, Frame, Parts};
use sha2::{Digest as _, Sha256};

use super::{FACTS, IDENTITY, KIND, MOST_NAME_BYTES, Origin, STARTS, STREAM, VALUES};
use crate::circuits::CircuitShape;
use crate::circuits::extract::{Counts, Surveyed};
use crate::circuits::record::Synthesis;
use crate::circuits::shape::domain_of;
use crate::error::Error;
use crate::sealed::{Digest, SealedWriter, Section};

/// A circuit that was written without having been in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extracted {
    /// Constraints, without the rows appended for the inputs.
    pub constraints: usize,
    /// Inputs, ONE counted.
    pub inputs: usize,
    /// Auxiliary variables.
    pub aux: usize,
    /// Non-zeros of A, B and C, the rows appended for the inputs counted.
    pub nonzeros: [usize; 3],
    /// The circuit's digest.
    pub digest: [u8; 32],
    /// Bytes of the file.
    pub bytes: u64,
}

/// Compiles a circuit into a file, which is the one that [`CircuitShape::write`] writes. Of its rows no more than a block, 1,024,
/// is in memory.
///
/// # Errors
/// The circuit's own, it is too large, or the file cannot be written.
pub fn extract<C: Circuit<Scalar> + Clone>(
    name: &str,
    circuit: C,
    file: &Path,
    origin: Origin,
) -> Result<Extracted, Error> {
    let surveyed = Surveyed::new(name, Synthesis { name, circuit })?;
    let (counts, survey) = (surveyed.counts, surveyed.survey.clone());
    let (rows, nonzeros) = (survey.rows(), survey.nonzeros());
    let domain = domain_of(name, rows)?.size();
    let mut blocks = Blocks::new(survey, surveyed.variables()).map_err(|fault| surveyed.refused(&fault))?;
    let facts = Facts { inputs: counts.inputs, rows, columns: surveyed.variables(), nonzeros, domain, knows_c: true };
    let mut writer = Writer::begin(SealedWriter::create(file, KIND)?, &facts)?;
    surveyed.each_row(|terms| {
        let piece = blocks.push_row(terms)?;
        Ok(writer.stream(piece)?)
    })?;
    let Frame { starts, values, .. } = blocks.finish().map_err(|fault| surveyed.refused(&fault))?;
    let (digest, bytes) = writer.end(&starts, &values, (name, origin))?;
    let Counts { inputs, aux } = counts;
    Ok(Extracted { constraints: rows - inputs, inputs, aux, nonzeros, digest, bytes })
}

impl CircuitShape {
    /// Writes a stored circuit, which was extracted from `origin`.
    ///
    /// # Errors
    /// The file cannot be written; one that is there already is then left as it was.
    pub fn write(&self, file: &Path, origin: Origin) -> Result<(), Error> {
        self.write_to(SealedWriter::create(file, KIND)?, origin).map(drop)
    }

    /// The circuit's digest: equal circuits have equal ones. It takes a pass over the compressed matrices.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        // A rehearsal writes nothing that could fail.
        self.write_to(SealedWriter::rehearsal(KIND), Origin::UNKNOWN).unwrap_or_default()
    }

    fn write_to(&self, writer: SealedWriter, origin: Origin) -> Result<Digest, Error> {
        let Parts { rows, columns, nonzeros, stream, starts, values } = self.matrices().parts();
        let (rows, columns, nonzeros) = (*rows, *columns, *nonzeros);
        let (inputs, domain, knows_c) = (self.inputs(), self.domain().size(), self.knows_c());
        let facts = Facts { inputs, rows, columns, nonzeros, domain, knows_c };
        let mut writer = Writer::begin(writer, &facts)?;
        writer.stream(stream)?;
        Ok(writer.end(starts, values, (self.name(), origin))?.0)
    }
}

/// The first section.
struct Facts {
    inputs: usize,
    rows: usize,
    columns: usize,
    nonzeros: [usize; 3],
    domain: usize,
    knows_c: bool,
}

/// A file whose stream is being written.
struct Writer {
    writer: SealedWriter,
    sections: Vec<Section>,
}

impl Writer {
    fn begin(mut writer: SealedWriter, facts: &Facts) -> Result<Self, Error> {
        let Facts { inputs, rows, columns, nonzeros: [a, b, c], domain, knows_c } = *facts;
        let facts = [inputs, rows, columns, a, b, c, domain, usize::from(knows_c)];
        let facts: Vec<u8> = facts.iter().flat_map(|fact| (*fact as u64).to_le_bytes()).collect();
        writer.section(FACTS, &facts)?;
        let sections = writer.last_section().into_iter().collect();
        writer.begin(STREAM)?;
        Ok(Self { writer, sections })
    }

    /// The next piece of the stream.
    fn stream(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.writer.append(piece)
    }

    /// All that is not the stream; what comes back is the circuit's digest and the file's length.
    fn end(self, starts: &[u64], values: &[Scalar], (name, origin): (&str, Origin)) -> Result<(Digest, u64), Error> {
        let Self { mut writer, mut sections } = self;
        sections.extend(writer.last_section());
        writer.begin(STARTS)?;
        for start in starts {
            writer.append(&start.to_le_bytes())?;
        }
        sections.extend(writer.last_section());
        writer.begin(VALUES)?;
        for value in values {
            writer.append(&value.to_bytes_le())?;
        }
        sections.extend(writer.last_section());
        let digest = digest_of(&sections);
        let name = &name[..name.floor_char_boundary(MOST_NAME_BYTES)];
        writer.section(IDENTITY, &[&digest, origin.bytes(), name.as_bytes()].concat())?;
        let written = writer.finish()?;
        Ok((digest, written.length))
    }
}

pub(super) fn digest_of(sections: &[Section]) -> Digest {
    let mut hasher = Sha256::new_with_prefix("proofline circuit");
    sections.iter().for_each(|section| hasher.update(section.digest));
    hasher.finalize().into()
}
