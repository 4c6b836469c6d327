//! Kernels and whole proofs beside arkworks, blst and bellperson, in one run.
//!
//! Every round runs each contender once, so that what disturbs the machine disturbs all; minima and medians of the rounds,
//! and the ratio of the medians. Results are compared: times of wrong answers mean nothing.

#[cfg(feature = "filecoin")]
mod filecoin;
mod limits;
#[cfg(feature = "filecoin")]
mod load;
mod memory;
mod msm;
mod ntt;
mod proofs;
mod provers;
mod spmv;
mod subject;
mod table;
#[path = "../../verdicts.rs"]
mod verdicts;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use limits::Limits;
use subject::Subject;
use table::Table;

/// Kernels and whole proofs beside arkworks, blst and bellperson
#[derive(Parser)]
struct Arguments {
    /// Rows: `msm`, `ntt`, `spmv`, `proofs`, `memory`, `load`, `filecoin`
    #[arg(long, num_args = 1.., default_values = ["msm", "ntt", "spmv", "proofs", "memory", "load", "filecoin"])]
    rows: Vec<String>,
    /// Circuits of the rows `proofs` and `memory`: `sha256:N`, `sha256_247`, `poseidon_batch7`
    #[arg(long, num_args = 1.., default_values = ["sha256_247", "sha256:16", "poseidon_batch7"])]
    circuits: Vec<String>,
    /// Rounds; each runs every contender once
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Smaller sizes and three rounds, for development: no verdict is worth much
    #[arg(long)]
    quick: bool,
    /// Where keys are kept between runs
    #[arg(long, default_value = "target/bench-keys")]
    keys: PathBuf,
    /// Leaves out proofs on the portable path, that of CPUs without AVX-512 IFMA
    #[arg(long)]
    no_portable: bool,
    /// Proves once in this process and prints its peak memory: how the other runs of this program measure it
    #[arg(long, hide = true)]
    peak_of: Option<String>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(prover) = &arguments.peak_of {
        println!("{}", memory::peak(prover, &arguments.circuits[0], &arguments.keys)?);
        return Ok(ExitCode::SUCCESS);
    }
    let limits = Limits::measure();
    println!("{} threads, kernels: {}", rayon::current_num_threads(), proofline_kernels::Path::best().name());
    limits.print();
    let mut table = Table::default();
    table.head();
    run(&arguments, &mut table, &limits)?;
    Ok(table.verdicts.end())
}

fn run(arguments: &Arguments, table: &mut Table, limits: &Limits) -> Result<(), Box<dyn Error>> {
    let wanted = |row: &str| arguments.rows.iter().any(|wanted| wanted == row);
    let (runs, smaller) = if arguments.quick { (3, 2) } else { (arguments.rounds, 0) };
    if wanted("msm") {
        for log in [18, 20] {
            msm::g1(log - smaller, runs, table, limits)?;
        }
        msm::g2(18 - smaller, runs, table, limits)?;
    }
    if wanted("ntt") {
        for log in [20, 22] {
            ntt::ntt(log - smaller, runs, table, limits)?;
        }
    }
    if wanted("spmv") {
        let subject = Subject::open("sha256_247", &arguments.keys)?;
        spmv::spmv(&subject.shape, &subject.witness, runs, table)?;
        #[cfg(feature = "filecoin")]
        porep(runs, table)?;
        #[cfg(not(feature = "filecoin"))]
        table.verdicts.unknown.push("spmv of Filecoin's circuit: built without `--features filecoin`".to_owned());
    }
    for name in arguments.circuits.iter().filter(|_| wanted("proofs")) {
        proofs::proofs(&Subject::open(name, &arguments.keys)?, !arguments.no_portable, runs, table, limits)?;
    }
    for name in arguments.circuits.iter().filter(|_| wanted("memory")) {
        memory::peaks(name, &arguments.keys, table)?;
    }
    #[cfg(feature = "filecoin")]
    if wanted("load") {
        load::load(&filecoin::porep_key(&arguments.keys)?, runs, table)?;
    }
    #[cfg(feature = "filecoin")]
    if wanted("filecoin") {
        filecoin::rows(runs, &arguments.keys, table)?;
    }
    Ok(())
}

/// Sparse products of Filecoin's proof of replication, of a sealed sector of 2 KiB.
#[cfg(feature = "filecoin")]
fn porep(runs: usize, table: &mut Table) -> Result<(), Box<dyn Error>> {
    use proofline_stages::circuits::filecoin::{prover_id, read_c1};
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/filecoin/porep-2k-sector1.c1.json");
    let (_, task) = read_c1(&file, &std::fs::read(&file)?, (prover_id("f01000")?, 1))?;
    let shape = task.family().compile()?;
    let witness = proofline_stages::circuits::witness_of(&shape, task.circuit(0))?;
    spmv::spmv(&shape, &witness, runs, table)
}
