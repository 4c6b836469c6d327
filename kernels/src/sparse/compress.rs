//! From three matrices to the stream of a triple.

use super::Matrix;
use super::dictionary::Dictionary;
use super::layout::{LANES, MOST_STEPS, ROWS_PER_BLOCK, Slot, code, code_bytes, push_group, push_step};
use super::parts::Parts;

/// A part of a row: what one lane adds up.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    // The order of the fields is that of the segments in a block: those that continue a row come behind all that begin
    // one, and those with the same coefficients come together, in the order of their rows.
    continues: bool,
    codes: Vec<u32>,
    slot: Slot,
    columns: Vec<u32>,
}

/// Compresses three matrices of one shape.
pub(super) fn compress(matrices: [&Matrix; 3]) -> Parts {
    let (rows, columns) = (matrices[0].rows(), matrices[0].columns());
    let mut dictionary = Dictionary::new();
    // The width of codes depends on the whole dictionary: a pass for that alone.
    for row in 0..rows {
        for (_, value) in matrices.iter().flat_map(|matrix| matrix.row(row)) {
            dictionary.code(&value);
        }
    }
    let mut lookup = dictionary.clone();
    let values = dictionary.into_values();
    let (mut stream, mut starts) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(ROWS_PER_BLOCK) {
        starts.push(stream.len() as u64);
        let mut segments = Vec::new();
        for (m, matrix) in matrices.iter().enumerate() {
            for row in first..rows.min(first + ROWS_PER_BLOCK) {
                let terms: Vec<(u32, u32)> =
                    matrix.row(row).into_iter().map(|(column, value)| (column, code(lookup.code(&value)))).collect();
                cut(&mut segments, Slot::new(m, row - first), &terms);
            }
        }
        push_block(&mut stream, segments, code_bytes(&values));
    }
    stream.shrink_to_fit();
    Parts { rows, columns, nonzeros: matrices.map(Matrix::nonzeros), stream, starts, values }
}

/// The segments of a row; an empty row has one too, since its result is to be written.
pub(super) fn cut(segments: &mut Vec<Segment>, slot: Slot, terms: &[(u32, u32)]) {
    let mut chunks = terms.chunks(MOST_STEPS);
    let mut continues = false;
    let mut next = Some(chunks.next().unwrap_or_default());
    while let Some(chunk) = next {
        let (columns, codes) = chunk.iter().copied().unzip();
        segments.push(Segment { continues, codes, slot, columns });
        continues = true;
        next = chunks.next();
    }
}

/// Groups of segments with the same coefficients first; what is left over of each kind shares groups by length.
pub(super) fn push_block(stream: &mut Vec<u8>, mut segments: Vec<Segment>, code_bytes: usize) {
    segments.sort_unstable();
    let begin = segments.iter().filter(|segment| !segment.continues).count();
    for segments in [&segments[..begin], &segments[begin..]] {
        let mut rest: Vec<&Segment> = Vec::new();
        for alike in segments.chunk_by(|a, b| a.codes == b.codes) {
            let (whole, left) = alike.as_chunks::<LANES>();
            for group in whole {
                push_segments(stream, &group.each_ref(), code_bytes);
            }
            rest.extend(left);
        }
        rest.sort_by_key(|segment| segment.codes.len());
        for group in rest.chunks(LANES) {
            push_segments(stream, group, code_bytes);
        }
    }
}

fn push_segments(stream: &mut Vec<u8>, group: &[&Segment], code_bytes: usize) {
    let steps = group.iter().map(|segment| segment.codes.len()).max().unwrap_or(0);
    let slots: Vec<Slot> = group.iter().map(|segment| segment.slot).collect();
    push_group(stream, steps, group[0].continues, &slots);
    for step in 0..steps {
        let term = |segment: &&Segment| match segment.codes.get(step) {
            Some(&code) => (segment.columns[step], code),
            None => (0, 0),
        };
        push_step(stream, &group.iter().map(term).collect::<Vec<_>>(), code_bytes);
    }
}
