//! Whole proofs beside ark-groth16 and bellperson, in one run.
//!
//! Times: every round proves once with each prover, so that what disturbs the machine disturbs all; medians and minima
//! of the rounds. Peak memory: a fresh process for each prover, its peak reset when everything is resident. All proofs
//! have the same key, witness, r and s, and must have the same bytes.

mod provers;
mod subject;

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use proofline::VerifyingKey;
use proofline::verify::{PreparedKey, ProofPoints};
use subject::Subject;

const PROVERS: [&str; 3] = ["proofline", "ark-groth16", "bellperson"];

/// Whole proofs beside ark-groth16 and bellperson.
#[derive(Parser)]
struct Arguments {
    /// Circuits: `sha256:N`, `sha256_247`, `poseidon_batch7`
    #[arg(long, num_args = 1.., default_values = ["sha256_247", "sha256:16", "poseidon_batch7"])]
    circuits: Vec<String>,
    /// Rounds; each proves once with each prover
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Where keys are kept between runs
    #[arg(long, default_value = "target/bench-keys")]
    keys: PathBuf,
    /// Leaves the peaks of memory out
    #[arg(long)]
    no_memory: bool,
    /// Proves once in this process and prints its peak memory: how the other runs of this program measure it
    #[arg(long, hide = true)]
    peak_of: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(prover) = &arguments.peak_of {
        println!("{}", peak(prover, &Subject::open(&arguments.circuits[0], &arguments.keys)?)?);
        return Ok(());
    }
    let threads = std::thread::available_parallelism()?;
    println!("{threads} threads, kernels: {}", kernels());
    println!(
        "| circuit | constraints | prover | min s | median s | max s | ours is faster by (medians) | peak RSS MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for name in &arguments.circuits {
        compare(&Subject::open(name, &arguments.keys)?, &arguments)?;
    }
    Ok(())
}

/// The path that the arithmetic takes here.
fn kernels() -> &'static str {
    if is_x86_feature_detected!("avx512ifma") { "AVX-512 IFMA" } else { "portable" }
}

fn compare(subject: &Subject, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let key = PreparedKey::new(&VerifyingKey::read(&subject.key)?);
    let mut provers = Vec::new();
    for name in PROVERS {
        provers.push(provers::open(name, subject)?);
    }
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); provers.len()];
    let mut expected: Option<Vec<u8>> = None;
    // The round before the first warms every prover up and is not counted.
    for round in 0..=arguments.rounds {
        for (prover, times) in provers.iter().zip(&mut times) {
            let clock = Instant::now();
            let proof = prover.prove(subject)?;
            let seconds = clock.elapsed().as_secs_f64();
            if round > 0 {
                times.push(seconds);
            }
            if !key.verify(&ProofPoints::parse(&proof)?, &subject.public())? {
                return Err("a proof does not verify".into());
            }
            if expected.get_or_insert_with(|| proof.clone()) != &proof {
                return Err("the provers' proofs differ".into());
            }
        }
    }
    drop(provers);
    let ours = median(&mut times[0]);
    for (name, times) in PROVERS.iter().zip(&mut times) {
        let middle = median(times);
        let memory = if arguments.no_memory { "-".to_owned() } else { peak_of_process(name, subject, arguments)? };
        println!(
            "| {} | {} | {name} | {:.3} | {middle:.3} | {:.3} | {:.2} | {memory} |",
            subject.name,
            subject.shape.constraints(),
            times[0],
            times[times.len() - 1],
            middle / ours
        );
    }
    Ok(())
}

/// The middle of the times, which are sorted by this.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn peak_of_process(prover: &str, subject: &Subject, arguments: &Arguments) -> Result<String, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--peak-of", prover, "--circuits", &subject.name, "--keys"])
        .arg(&arguments.keys)
        .output()?;
    if !output.status.success() {
        return Err(format!("{prover}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The peak resident memory of a proof in MiB: everything that must be in memory for it is, what setting up took is
/// forgotten.
fn peak(prover: &str, subject: &Subject) -> Result<u64, Box<dyn Error>> {
    let prover = provers::open(prover, subject)?;
    // Writing 5 resets the peak to what is resident now.
    std::fs::write("/proc/self/clear_refs", "5")?;
    prover.prove(subject)?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak in /proc/self/status")?;
    let kib: u64 = peak.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1024)
}
