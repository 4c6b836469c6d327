//! How fast a converted key is loaded: `cargo run --release -p proofline-stages --example load -- [POINTS]`.
//!
//! Converts a key whose five queries have so many points each (2^18 unless given), which checks every point, and then loads
//! the converted file several times. The file is in the page cache, so this is the cost of digests and conversion alone.

use std::time::Instant;

use proofline_kernels::fixed_base::Table;
use proofline_stages::params::resident::{Resident, convert};
use proofline_stages::params::setup::{Entropy, generate};
use proofline_stages::progress::unwatched;
use proofline_stages::{CircuitShape, Error};

const LOADS: usize = 7;
const GIB: f64 = (1u64 << 30) as f64;

fn main() -> Result<(), Error> {
    use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
    use group::Group;
    let points = std::env::args().nth(1).and_then(|points| points.parse().ok()).unwrap_or(1 << 18);
    let mut key = generate(&CircuitShape::from_builtin("sha256:1")?, &Entropy::Seed("load"), &unwatched)?;
    let scalars: Vec<Scalar> = (1..=points as u64).map(Scalar::from).collect();
    let g1 = Table::<G1Affine>::new(G1Projective::generator(), points).mul_many(&scalars);
    let g2 = Table::<G2Affine>::new(G2Projective::generator(), points).mul_many(&scalars);
    (key.h, key.l, key.a, key.b_g1, key.b_g2) = (g1.clone(), g1.clone(), g1.clone(), g1, g2);
    let folder = std::env::temp_dir().join(format!("proofline-load-{}", std::process::id()));
    key.write(&folder)?;
    drop(key);
    let converted = convert(&folder, &unwatched)?;
    let gib = converted.bytes as f64 / GIB;
    let seconds = converted.took.as_secs_f64();
    println!("{gib:.3} GiB; checked and converted in {seconds:.2} s, {:.3} GiB/s", gib / seconds);
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..LOADS {
        let clock = Instant::now();
        let loaded = Resident::open(&converted.file)?.load(&unwatched)?;
        times.push(clock.elapsed().as_secs_f64());
        drop(loaded);
    }
    times.sort_by(f64::total_cmp);
    let (least, median) = (times[0], times[LOADS / 2]);
    println!(
        "loaded in {least:.3} s at best, {median:.3} s in the median of {LOADS}: {:.2} and {:.2} s/GiB; {:.2} GiB/s",
        least / gib,
        median / gib,
        gib / median
    );
    std::fs::remove_dir_all(&folder).map_err(|source| Error::Io { action: "remove", file: folder, source })
}
