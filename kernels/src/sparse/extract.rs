//! From rows to the stream of a triple, block by block: no more than a block of rows is in memory.
//!
//! How wide a code is follows from the whole dictionary, and so the rows are gone through twice: a [`Survey`] counts them and
//! learns the coefficients, [`Blocks`] makes the stream.

use super::builder::{MAX_COEFFICIENTS, MAX_COLUMNS, normalise};
use super::compress::{Segment, cut, push_block};
use super::dictionary::Dictionary;
use super::layout::{ROWS_PER_BLOCK, Slot, code, code_bytes};
use super::{Parts, SparseError, Triple};
use crate::Scalar;

/// A row of A, B and C: columns and coefficients, in any order; terms of the same column are summed, and what sums to zero is
/// dropped.
pub type RowTerms<'a> = [&'a [(u32, Scalar)]; 3];

/// What is known of matrices when all rows have been seen once.
#[derive(Debug, Clone)]
pub struct Survey {
    rows: usize,
    nonzeros: [usize; 3],
    dictionary: Dictionary,
    most_coefficients: usize,
    row: Vec<(u32, Scalar)>,
}

impl Default for Survey {
    fn default() -> Self {
        Self::with_limit(MAX_COEFFICIENTS)
    }
}

impl Survey {
    /// One with another limit of distinct coefficients, 1 and −1 counted.
    pub(super) fn with_limit(most_coefficients: usize) -> Self {
        Self { rows: 0, nonzeros: [0; 3], dictionary: Dictionary::new(), most_coefficients, row: Vec::new() }
    }

    /// Looks at the next row. Columns may have any names here, so long as each has one.
    ///
    /// # Errors
    /// There are more distinct coefficients than the format can name.
    pub fn push_row(&mut self, terms: RowTerms<'_>) -> Result<(), SparseError> {
        for (terms, nonzeros) in terms.into_iter().zip(&mut self.nonzeros) {
            normalise(&mut self.row, terms);
            if !self.dictionary.has_room(&self.row, self.most_coefficients) {
                return Err(SparseError::TooManyCoefficients { row: self.rows, limit: self.most_coefficients });
            }
            *nonzeros += self.row.len();
            for (_, value) in &self.row {
                self.dictionary.code(value);
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Rows seen.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Non-zeros of A, B and C.
    pub fn nonzeros(&self) -> [usize; 3] {
        self.nonzeros
    }
}

/// Makes the stream of a triple, a block of rows at a time.
#[derive(Debug)]
pub struct Blocks {
    survey: Survey,
    columns: usize,
    code_bytes: usize,
    /// Rows and non-zeros so far.
    rows: usize,
    nonzeros: [usize; 3],
    segments: Vec<Segment>,
    block: Vec<u8>,
    starts: Vec<u64>,
    next_start: u64,
}

/// What there is to a triple beside its stream; see [`Parts`](super::Parts).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Rows of each matrix.
    pub rows: usize,
    /// Columns of each matrix.
    pub columns: usize,
    /// Non-zeros of A, B and C.
    pub nonzeros: [usize; 3],
    /// Where each block starts in the stream.
    pub starts: Vec<u64>,
    /// The distinct coefficients.
    pub values: Vec<Scalar>,
}

impl Blocks {
    /// For the rows that were surveyed; matrices have `columns` columns.
    ///
    /// # Errors
    /// More columns than an index can name.
    pub fn new(survey: Survey, columns: usize) -> Result<Self, SparseError> {
        if columns > MAX_COLUMNS {
            return Err(SparseError::TooManyColumns { columns, limit: MAX_COLUMNS });
        }
        let code_bytes = code_bytes(survey.dictionary.values());
        let (segments, block, starts) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { survey, columns, code_bytes, rows: 0, nonzeros: [0; 3], segments, block, starts, next_start: 0 })
    }

    /// Adds the next row, with its columns by number. What comes back is the next piece of the stream: a block's bytes behind
    /// its last row, else nothing.
    ///
    /// # Errors
    /// A column out of range, or the row is not what was surveyed.
    pub fn push_row(&mut self, terms: RowTerms<'_>) -> Result<&[u8], SparseError> {
        let row = self.rows;
        if row == self.survey.rows {
            return Err(SparseError::SurveyDiffers { row });
        }
        for (matrix, terms) in terms.into_iter().enumerate() {
            if let Some(&(column, _)) = terms.iter().find(|(column, _)| *column as usize >= self.columns) {
                return Err(SparseError::ColumnOutOfRange { row, column, columns: self.columns });
            }
            let Survey { row: own, dictionary, .. } = &mut self.survey;
            normalise(own, terms);
            self.nonzeros[matrix] += own.len();
            let terms: Option<Vec<(u32, u32)>> =
                own.iter().map(|(column, value)| Some((*column, code(dictionary.find(value)?)))).collect();
            let terms = terms.ok_or(SparseError::SurveyDiffers { row })?;
            cut(&mut self.segments, Slot::new(matrix, row % ROWS_PER_BLOCK), &terms);
        }
        self.rows += 1;
        self.block.clear();
        if self.rows.is_multiple_of(ROWS_PER_BLOCK) || self.rows == self.survey.rows {
            push_block(&mut self.block, std::mem::take(&mut self.segments), self.code_bytes);
            self.starts.push(self.next_start);
            self.next_start += self.block.len() as u64;
        }
        Ok(&self.block)
    }

    /// What there is beside the stream, when all rows were added.
    ///
    /// # Errors
    /// The rows are not those that were surveyed.
    pub fn finish(self) -> Result<Frame, SparseError> {
        let Self { survey, columns, rows, nonzeros, starts, .. } = self;
        if (rows, nonzeros) != (survey.rows, survey.nonzeros) {
            return Err(SparseError::SurveyDiffers { row: rows });
        }
        Ok(Frame { rows, columns, nonzeros, starts, values: survey.dictionary.into_values() })
    }
}

/// Collects rows in order into a triple; what is in memory is compressed.
#[derive(Debug)]
pub struct TripleBuilder {
    blocks: Blocks,
    stream: Vec<u8>,
}

impl TripleBuilder {
    /// For the rows that were surveyed.
    ///
    /// # Errors
    /// As [`Blocks::new`].
    pub fn new(survey: Survey, columns: usize) -> Result<Self, SparseError> {
        Ok(Self { blocks: Blocks::new(survey, columns)?, stream: Vec::new() })
    }

    /// Adds the next row.
    ///
    /// # Errors
    /// As [`Blocks::push_row`].
    pub fn push_row(&mut self, terms: RowTerms<'_>) -> Result<(), SparseError> {
        self.stream.extend_from_slice(self.blocks.push_row(terms)?);
        Ok(())
    }

    /// The matrices.
    ///
    /// # Errors
    /// As [`Blocks::finish`].
    pub fn finish(self) -> Result<Triple, SparseError> {
        let Self { blocks, mut stream } = self;
        stream.shrink_to_fit();
        let Frame { rows, columns, nonzeros, starts, values } = blocks.finish()?;
        Ok(Triple::with_parts(Parts { rows, columns, nonzeros, stream, starts, values }))
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::MatrixBuilder;
    use super::*;

    type Rows = Vec<[Vec<(u32, Scalar)>; 3]>;

    /// Rows of up to so many terms, with columns that repeat and coefficients that cancel.
    fn rows(count: usize, longest: usize, coefficients: u64, seed: u64) -> Rows {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut sum = || -> Vec<(u32, Scalar)> {
            let terms = rng.gen_range(0..=longest);
            let mut term = || {
                let value = Scalar::from(rng.gen_range(0..coefficients));
                (rng.gen_range(0..50), if rng.r#gen() { value } else { -value })
            };
            (0..terms).map(|_| term()).collect()
        };
        (0..count).map(|_| [sum(), sum(), sum()]).collect()
    }

    fn as_terms(row: &[Vec<(u32, Scalar)>; 3]) -> RowTerms<'_> {
        row.each_ref().map(Vec::as_slice)
    }

    fn surveyed(rows: &Rows) -> Survey {
        let mut survey = Survey::default();
        rows.iter().for_each(|row| survey.push_row(as_terms(row)).unwrap());
        survey
    }

    fn extracted(rows: &Rows) -> Parts {
        let mut builder = TripleBuilder::new(surveyed(rows), 50).unwrap();
        rows.iter().for_each(|row| builder.push_row(as_terms(row)).unwrap());
        builder.finish().unwrap().parts().clone()
    }

    fn from_matrices(rows: &Rows) -> Parts {
        let [a, b, c] = [0, 1, 2].map(|matrix| {
            let mut builder = MatrixBuilder::new(50);
            rows.iter().for_each(|row| builder.push_row(&row[matrix]).unwrap());
            builder.finish()
        });
        Triple::new(&a, &b, &c).unwrap().parts().clone()
    }

    #[test]
    fn the_parts_are_those_of_whole_matrices() {
        let sizes =
            [(0, 0, 1), (1, 3, 2), (1023, 3, 2), (1024, 3, 2), (1025, 4, 300), (2048, 2, 5), (3000, 80, 70_000)];
        for (count, longest, coefficients) in sizes {
            let rows = rows(count, longest, coefficients, count as u64);
            let parts = extracted(&rows);
            assert!(parts == from_matrices(&rows), "{count} rows");
            assert!(Triple::from_parts(parts).is_ok(), "{count} rows");
        }
    }

    #[test]
    fn rows_that_are_not_those_of_the_survey_are_refused() {
        let rows = rows(1500, 3, 9, 1);
        let last = |change: &dyn Fn(&mut Rows)| {
            let mut others = rows.clone();
            change(&mut others);
            let mut blocks = Blocks::new(surveyed(&rows), 50).unwrap();
            for row in &others {
                blocks.push_row(as_terms(row))?;
            }
            blocks.finish()
        };
        assert!(last(&|_| ()).is_ok());
        assert_eq!(last(&|rows| _ = rows.pop()), Err(SparseError::SurveyDiffers { row: 1499 }));
        assert_eq!(last(&|rows| rows.push(Default::default())), Err(SparseError::SurveyDiffers { row: 1500 }));
        let unknown = vec![(1, Scalar::from(1 << 40))];
        assert_eq!(last(&|rows| rows[7][1] = unknown.clone()), Err(SparseError::SurveyDiffers { row: 7 }));
        let more = |rows: &mut Rows| rows[7][2] = (0..9).map(|column| (column, Scalar::ONE)).collect();
        assert_eq!(last(&more), Err(SparseError::SurveyDiffers { row: 1500 }));
        let outside = vec![(50, Scalar::ONE)];
        let fault = SparseError::ColumnOutOfRange { row: 8, column: 50, columns: 50 };
        assert_eq!(last(&|rows| rows[8][0] = outside.clone()), Err(fault));
    }

    #[test]
    fn too_many_columns_and_coefficients_are_refused() {
        assert!(Blocks::new(Survey::default(), MAX_COLUMNS).is_ok());
        let fault = SparseError::TooManyColumns { columns: MAX_COLUMNS + 1, limit: MAX_COLUMNS };
        assert_eq!(Blocks::new(Survey::default(), MAX_COLUMNS + 1).unwrap_err(), fault);
        let row = |values: [u64; 3]| values.map(|value| vec![(0, Scalar::from(value))]);
        let mut survey = Survey::with_limit(4);
        survey.push_row(as_terms(&row([1, 2, 3]))).unwrap();
        survey.push_row(as_terms(&row([3, 2, 1]))).unwrap();
        let fault = SparseError::TooManyCoefficients { row: 2, limit: 4 };
        assert_eq!(survey.push_row(as_terms(&row([1, 4, 1]))), Err(fault));
    }
}
