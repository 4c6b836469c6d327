//! The coefficients of a `.zkey`: the matrices A and B.

use blstrs::Scalar;
use ff::{Field, PrimeField};
use proofline_kernels::sparse::Bitmap;

use super::COEFFICIENTS;
use super::header::Header;
use crate::circuits::rows::Rows;
use crate::error::Error;
use crate::iden3::{Cursor, Place, SCALAR_BYTES, SectionFile};
use crate::progress::{Progress, Watch};

/// Matrix, row, wire, value.
const ENTRY_BYTES: u64 = 3 * 4 + SCALAR_BYTES;
/// Entries that are read at a time.
const ENTRIES_PER_PIECE: u64 = 1 << 16;

const A: u32 = 0;

/// A coefficient as the file has it.
struct Entry {
    matrix: u32,
    row: u32,
    wire: u32,
    value: Scalar,
}

/// The circuit's own rows, C empty; the rows behind them, one for each public wire, are checked and left out.
pub(super) fn rows(file: &SectionFile, header: &Header, watch: Watch<'_>) -> Result<Rows, Error> {
    let mut entries = Vec::new();
    let place = each(file, header, watch, |count, entry| {
        if entries.is_empty() {
            // The count was held against the section's length.
            entries.reserve_exact(count);
        }
        entries.push(entry);
    })?;
    let order = |entry: &Entry| (entry.row, entry.matrix);
    if !entries.is_sorted_by_key(order) {
        entries.sort_by_key(order);
    }
    let own = own_rows(file, place, header, &entries)?;
    // c·R² with R = 2^256, of which R² is to go.
    let factor = Scalar::from(2).pow_vartime([512]).invert().unwrap_or(Scalar::ZERO);
    let mut rows = Rows::with_capacity(entries.len(), own);
    let mut entries = entries.into_iter().peekable();
    for row in 0..own as u32 {
        for matrix in [A, 1] {
            while let Some(entry) = entries.next_if(|entry| order(entry) == (row, matrix)) {
                rows.push(entry.wire, entry.value * factor);
            }
            rows.close();
        }
        rows.close();
    }
    Ok(rows)
}

/// Which wires occur in A and in B. It takes no memory to speak of.
pub(super) fn densities(file: &SectionFile, header: &Header, watch: Watch<'_>) -> Result<[Bitmap; 2], Error> {
    let mut maps = [Bitmap::new(header.wires), Bitmap::new(header.wires)];
    each(file, header, watch, |_, entry| maps[entry.matrix as usize].set(entry.wire as usize))?;
    Ok(maps)
}

/// Calls `take` with the number of coefficients and each that is not zero.
fn each(
    file: &SectionFile,
    header: &Header,
    watch: Watch<'_>,
    mut take: impl FnMut(usize, Entry),
) -> Result<Place, Error> {
    let place = file.section(COEFFICIENTS, "the coefficients")?;
    let head = file.read_small(Place { length: place.length.min(4), ..place })?;
    let count = u64::from(Cursor::at(file.path(), &head, place.offset).u32("the number of coefficients")?);
    if 4 + count * ENTRY_BYTES != place.length {
        let fault = format!(
            "{count} coefficients take {} bytes, and section {COEFFICIENTS} has {}; the file is damaged",
            4 + count * ENTRY_BYTES,
            place.length
        );
        return Err(file.malformed(place.offset, fault));
    }
    let mut bytes = Vec::new();
    for first in (0..count).step_by(ENTRIES_PER_PIECE as usize) {
        watch(Progress { what: "coefficients", done: first, total: count });
        bytes.resize(((count - first).min(ENTRIES_PER_PIECE) * ENTRY_BYTES) as usize, 0);
        let offset = place.offset + 4 + first * ENTRY_BYTES;
        file.read_at(offset, &mut bytes)?;
        let mut cursor = Cursor::at(file.path(), &bytes, offset);
        while cursor.left() > 0 {
            let entry = entry(&mut cursor, header)?;
            if entry.value != Scalar::ZERO {
                take(usize::try_from(count).unwrap_or(0), entry);
            }
        }
    }
    watch(Progress { what: "coefficients", done: count, total: count });
    Ok(place)
}

fn entry(cursor: &mut Cursor<'_>, header: &Header) -> Result<Entry, Error> {
    let at = cursor.offset();
    let matrix = cursor.u32("a matrix")?;
    let row = cursor.u32("a row")?;
    let wire = cursor.u32("a wire")?;
    let value = cursor.scalar("a coefficient")?;
    if matrix > 1 {
        return Err(cursor.malformed(at, format!("a coefficient is of matrix {matrix}; there are 0 (A) and 1 (B)")));
    }
    if row as usize >= header.domain {
        let fault = format!("a coefficient is of row {row}, and the domain has {} points", header.domain);
        return Err(cursor.malformed(at + 4, fault));
    }
    if wire as usize >= header.wires {
        let fault = format!("a coefficient is of wire {wire}, and the circuit has {} wires", header.wires);
        return Err(cursor.malformed(at + 8, fault));
    }
    Ok(Entry { matrix, row, wire, value })
}

/// The number of the circuit's own rows. The last rows must be those of the public wires.
fn own_rows(file: &SectionFile, place: Place, header: &Header, sorted: &[Entry]) -> Result<usize, Error> {
    let inputs = header.inputs;
    let fault = || {
        let fault = format!(
            "the last rows of A are not the {inputs} rows of the public wires, one coefficient 1 in each; the key was not \
             made for Groth16 as snarkjs has it"
        );
        file.malformed(place.offset, fault)
    };
    let own = sorted.last().and_then(|last| (last.row as usize + 1).checked_sub(inputs)).ok_or_else(fault)?;
    let behind = sorted.iter().rev().take_while(|entry| entry.row as usize >= own).count();
    let one = Scalar::from_repr(one_in_file()).unwrap_or(Scalar::ZERO);
    let right = behind == inputs
        && sorted[sorted.len() - inputs..].iter().enumerate().all(|(wire, entry)| {
            let place = (entry.matrix, entry.row as usize, entry.wire as usize);
            place == (A, own + wire, wire) && entry.value == one
        });
    if right { Ok(own) } else { Err(fault()) }
}

/// The coefficient 1 as the file has it: 2^512 mod r.
fn one_in_file() -> [u8; 32] {
    Scalar::from(2).pow_vartime([512]).to_repr()
}
