//! Sparse products beside their definition: compressed sparse rows with 4 bytes of column and 32 of coefficient a non-zero.

use std::error::Error;

use blstrs::Scalar;
use ff::Field;
use proofline::CircuitShape;

use crate::table::{Bar, Contender, Table, rounds};

const BAR: Bar = Bar { required: 5.0, goal: 5.0 };
/// The most bytes of a non-zero, all arrays counted.
const BYTES_PER_NONZERO: f64 = 4.5;

/// Compressed sparse rows, straight from the definition.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<Scalar>,
}

impl Rows {
    fn mul_into(&self, w: &[Scalar], out: &mut [Scalar]) {
        let mut start = 0;
        for (out, &end) in out.iter_mut().zip(&self.ends) {
            let terms = self.columns[start..end].iter().zip(&self.values[start..end]);
            *out = terms.map(|(column, value)| w[*column as usize] * value).sum();
            start = end;
        }
    }
}

/// A·w, B·w and C·w of a circuit with its real witness, on one thread.
pub fn spmv(shape: &CircuitShape, w: &[Scalar], runs: usize, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let matrices = shape.matrices();
    let mut plain = [const { Rows { ends: Vec::new(), columns: Vec::new(), values: Vec::new() } }; 3];
    matrices.for_each_row(|_, rows| {
        for (plain, row) in plain.iter_mut().zip(rows) {
            for (column, value) in row.terms() {
                plain.columns.push(column);
                plain.values.push(*value);
            }
            plain.ends.push(plain.columns.len());
        }
    });
    let out = [(); 3].map(|()| vec![Scalar::ZERO; matrices.rows()]);
    let (mut ours, mut theirs) = (out.clone(), out);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let contenders: Vec<Contender<'_>> = vec![
        (
            "ours",
            Box::new(|| {
                let [a, b, c] = &mut ours;
                pool.install(|| matrices.mul_into(w, a, b, c));
                Ok(())
            }),
        ),
        (
            "the definition",
            Box::new(|| {
                plain.iter().zip(&mut theirs).for_each(|(rows, out)| rows.mul_into(w, out));
                Ok(())
            }),
        ),
    ];
    let times = rounds(runs, contenders)?;
    if ours != theirs {
        return Err("the products differ".into());
    }
    let nonzeros = matrices.nonzeros().iter().sum::<usize>() as f64;
    let each = matrices.bytes() as f64 / nonzeros;
    let moved = (matrices.bytes() + 32 * w.len() + 96 * matrices.rows()) as f64;
    let note = format!(
        "{nonzeros:.0} non-zeros, {each:.2} bytes each ({} {BYTES_PER_NONZERO}), {:.1} GB/s of matrices, witness and rows",
        if each <= BYTES_PER_NONZERO { "≤" } else { "ABOVE" },
        moved / times[0].median() * 1e-9
    );
    let work = format!("spmv of {}, 1 thread", shape.name());
    table.times(&work, "36 bytes a non-zero", (&times[0], &times[1]), Some(BAR), &note);
    Ok(())
}
