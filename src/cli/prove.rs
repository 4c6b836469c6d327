//! `proofline prove`: proofs, verified, to files.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::{ArgGroup, Args};
use proofline::runtime::event::Observer;
use proofline::runtime::export::Graph;
use proofline::verify::write_public_inputs;
use proofline::{CircuitShape, Handle, Job, Options, Pipeline, Progress, Prover, ProvingKey, WitnessSource};

use super::exit::Fault;
use super::stored::{self, Choice};
use super::watch::{Bars, StageWatch, pool_of_all_cores};
use super::{files, waterfall};

/// Proves a circuit. Every proof is verified before it is written.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true),
    after_help = "Examples:\n  proofline prove --circuit sha256:4 --params out/keys --count 8 --out out/proofs\n  \
                  proofline prove --r1cs c.r1cs --wtns c.wtns --params out/keys --out out/proofs"
)]
pub struct Prove {
    #[command(flatten)]
    choice: Choice,
    /// Witnesses of a circuit of circom, one for each proof
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "circuit", required_unless_present = "circuit")]
    wtns: Vec<PathBuf>,
    /// The key: the folder that `setup` wrote, a `.params` file of bellperson, or a converted one
    #[arg(long, value_name = "DIR")]
    params: PathBuf,
    /// Proofs to make [default: 1, or one for each witness]; with --wtns each witness is proved so many times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Proofs in the pipeline at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,
    /// The folder to write to: `proof-N.bin` (192 bytes) and `public-N.json`; without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Draws what each worker did when, as an SVG picture
    #[arg(long, value_name = "FILE")]
    waterfall: Option<PathBuf>,
}

impl Prove {
    pub fn run(&self) -> Result<(), Fault> {
        let origin = self.choice.origin()?;
        let kept = self.choice.kept(&self.params, origin)?;
        let keep = kept.is_none();
        let shape = Arc::new(kept.map_or_else(|| self.choice.extract(), Ok)?);
        // Before any work: a folder that cannot be made must not cost an hour of proving.
        if let Some(folder) = &self.out {
            files::make_folder(folder)?;
        }
        let key = Arc::new(read_key(&self.params)?);
        key.check(&shape)?;
        let place = stored::beside(&self.params);
        if let Some(error) = keep.then(|| shape.write(&place, origin)).and_then(Result::err) {
            eprintln!("note: the circuit is not kept beside its key and will be extracted again: {error}");
        }
        let plan = Pipeline::plan();
        let proofs = self.proofs();
        let watch = Arc::new(StageWatch::new(&plan, u64::from(proofs)));
        let observer: Arc<dyn Observer> = Arc::<StageWatch>::clone(&watch);
        let prover = Prover::with(Options { observer, ..Options::default() })?;
        prover.notes().iter().for_each(|note| watch.say(&format!("note: {note}")));

        let clock = Instant::now();
        let made = self.prove_all(&prover, &shape, &key, &watch);
        if made.is_err() {
            prover.abort();
        }
        prover.drain();
        let seconds = clock.elapsed().as_secs_f64();
        watch.clear();
        made?;
        println!(
            "{proofs} proofs of {} verified in {seconds:.2} s: {:.3} proofs/s",
            shape.name(),
            f64::from(proofs) / seconds
        );
        print_stages(&watch, seconds);
        if let Some(folder) = &self.out {
            println!("written to {}", folder.display());
        }
        if let Some(file) = &self.waterfall {
            files::write(file, waterfall::svg(&plan, &watch.spans()).as_bytes())?;
            println!("waterfall drawn in {}", file.display());
        }
        Ok(())
    }

    fn proofs(&self) -> u32 {
        let witnesses = u32::try_from(self.wtns.len().max(1)).unwrap_or(u32::MAX);
        self.count.unwrap_or(1).saturating_mul(witnesses)
    }

    /// Keeps `concurrency` jobs in the pipeline until all are done; the first failure ends it.
    fn prove_all(
        &self,
        prover: &Prover,
        shape: &Arc<CircuitShape>,
        key: &Arc<ProvingKey>,
        watch: &StageWatch,
    ) -> Result<(), Fault> {
        let mut in_flight: VecDeque<(u32, String, Instant, Handle)> = VecDeque::new();
        let mut next = 0;
        while next < self.proofs() || !in_flight.is_empty() {
            if next < self.proofs() && in_flight.len() < self.concurrency as usize {
                let job = Job::new(Arc::clone(shape), Arc::clone(key), vec![self.witness(shape, next)?])?;
                let public = write_public_inputs(job.public_inputs(0));
                in_flight.push_back((next, public, Instant::now(), prover.submit(job)?));
                next += 1;
                continue;
            }
            let Some((number, public, begun, handle)) = in_flight.pop_front() else {
                continue;
            };
            for proof in handle.wait()? {
                if let Some(folder) = &self.out {
                    files::write(&folder.join(format!("proof-{number}.bin")), &proof.bytes)?;
                    files::write(&folder.join(format!("public-{number}.json")), public.as_bytes())?;
                }
            }
            let seconds = begun.elapsed().as_secs_f64();
            watch.say(&format!("proof {} of {}: verified, {seconds:.2} s after its start", number + 1, self.proofs()));
        }
        Ok(())
    }

    fn witness(&self, shape: &CircuitShape, number: u32) -> Result<WitnessSource, Fault> {
        match (shape.builtin(), self.wtns.as_slice()) {
            (Some(builtin), _) => Ok(builtin.fresh_witness()),
            (None, []) => Err(Fault::Usage("give the witnesses of the circuit: --wtns FILE".into())),
            (None, files) => Ok(WitnessSource::from_wtns(shape, &files[number as usize % files.len()])?),
        }
    }
}

fn read_key(path: &Path) -> Result<ProvingKey, Fault> {
    let bars = Bars::new();
    let watch = |progress: Progress| bars.progress(progress);
    let key = pool_of_all_cores()?.install(|| ProvingKey::read(path, &watch));
    bars.clear();
    Ok(key?)
}

fn print_stages(watch: &StageWatch, seconds: f64) {
    println!("  {:14} {:>7} {:>8} {:>10} {:>10} {:>6}", "stage", "workers", "firings", "busy s", "waited s", "busy");
    for stage in watch.figures() {
        let busy = stage.busy.as_secs_f64();
        println!(
            "  {:14} {:>7} {:>8} {:>10.3} {:>10.3} {:>5.0}%",
            stage.name,
            stage.workers,
            stage.firings,
            busy,
            stage.waited.as_secs_f64(),
            100.0 * busy / (seconds * f64::from(stage.workers))
        );
    }
}
