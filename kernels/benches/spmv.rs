//! Sparse products on a circom circuit: `cargo bench -p proofline-kernels --bench spmv -- FILE.r1cs`.
//!
//! The peer is the definition: compressed sparse rows with a 4-byte column and a 32-byte coefficient per non-zero, one
//! product and one addition each. One thread, its own CPU time, interleaved, medians.

use std::hint::black_box;
use std::time::Duration;

use ff::{Field, PrimeField};
use proofline_kernels::Scalar;
use proofline_kernels::sparse::{Matrix, MatrixBuilder, Triple};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const RUNS: usize = 9;

/// Compressed sparse rows, straight from the definition.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    terms: Vec<(u32, Scalar)>,
}

impl Rows {
    fn mul_into(&self, w: &[Scalar], out: &mut [Scalar]) {
        let mut start = 0;
        for (out, &end) in out.iter_mut().zip(&self.ends) {
            *out = self.terms[start..end].iter().map(|(column, value)| w[*column as usize] * value).sum();
            start = end;
        }
    }
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("spmv: give the path of an .r1cs file over BLS12-381");
        return;
    };
    let bytes = std::fs::read(&path).expect("a readable file");
    let (columns, constraints) = read(&bytes);
    let mut builders = [(); 3].map(|()| MatrixBuilder::new(columns));
    let mut plain = [(); 3].map(|()| Rows::default());
    for constraint in &constraints {
        for ((builder, plain), row) in builders.iter_mut().zip(&mut plain).zip(constraint) {
            builder.push_row(row).expect("columns in range");
            plain.terms.extend_from_slice(row);
            plain.ends.push(plain.terms.len());
        }
    }
    let [a, b, c] = builders.map(MatrixBuilder::finish);
    let triple = Triple::new(&a, &b, &c).expect("equal shapes");
    let nonzeros: usize = triple.nonzeros().iter().sum();
    println!(
        "{} rows, {columns} columns, {nonzeros} non-zeros; bytes per non-zero: triple {:.2}, matrices {:.2}",
        triple.rows(),
        triple.bytes() as f64 / nonzeros as f64,
        [&a, &b, &c].iter().map(|m| m.bytes()).sum::<usize>() as f64 / nonzeros as f64,
    );
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let w: Vec<_> = (0..columns).map(|_| Scalar::random(&mut rng)).collect();
    let mut out = [(); 3].map(|()| vec![Scalar::ZERO; triple.rows()]);
    let mut want = out.clone();
    plain.iter().zip(&mut want).for_each(|(rows, out)| rows.mul_into(&w, out));
    let mut times = [const { Vec::new() }; 3];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        for _ in 0..RUNS {
            let start = cpu_time();
            let [oa, ob, oc] = &mut out;
            triple.mul_into(&w, oa, ob, oc);
            times[0].push(cpu_time() - start);
            assert!(out == want, "times mean nothing if the results differ");
            let start = cpu_time();
            [&a, &b, &c].iter().zip(&mut out).for_each(|(matrix, out): (&&Matrix, _)| matrix.mul_into(&w, out));
            times[1].push(cpu_time() - start);
            let start = cpu_time();
            plain.iter().zip(&mut out).for_each(|(rows, out)| rows.mul_into(&w, out));
            times[2].push(cpu_time() - start);
            black_box(&out);
        }
    });
    let [triple, matrices, definition] = times.map(|mut times| {
        times.sort();
        times[RUNS / 2].as_nanos() as f64 / nonzeros as f64
    });
    println!(
        "ns per non-zero: triple {triple:.2}, matrices {matrices:.2} (×{:.2}), definition {definition:.2} (×{:.2})",
        matrices / triple,
        definition / triple,
    );
}

/// Rows of A, B and C of one constraint.
type Constraint = [Vec<(u32, Scalar)>; 3];

/// Wires and constraints of an .r1cs file; panics on anything but a well-formed one.
fn read(bytes: &[u8]) -> (usize, Vec<Constraint>) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    assert_eq!(&bytes[..4], b"r1cs", "not an .r1cs file");
    let (mut at, mut header, mut body) = (12, 0, 0);
    for _ in 0..word(8) {
        match word(at) {
            1 => header = at + 12,
            2 => body = at + 12,
            _ => {}
        }
        at += 12 + word(at + 4);
    }
    let (columns, rows) = (word(header + 36), word(header + 60));
    let mut at = body;
    let mut combination = || {
        let count = word(at);
        at += 4;
        let terms = (0..count).map(|_| {
            let value = Scalar::from_repr_vartime(bytes[at + 4..at + 36].try_into().expect("32 bytes"));
            let term = (word(at) as u32, value.expect("a canonical coefficient"));
            at += 36;
            term
        });
        terms.collect()
    };
    (columns, (0..rows).map(|_| [combination(), combination(), combination()]).collect())
}

/// CPU time of the calling thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; the clock exists on every Linux.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
