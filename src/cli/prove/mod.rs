//! `proofline prove`: proofs, verified, to files.

mod material;
mod memory;
mod output;
mod witnesses;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args};
use proofline::runtime::event::{Event, Observer};
use proofline::runtime::export::Graph;
use proofline::runtime::plan::Plan;
use proofline::runtime::trace::TraceWriter;
use proofline::{CircuitShape, Error, Handle, Job, Options, Pipeline, Prover, ProvingKey, PublicInputs};

use super::exit::Fault;
use super::filecoin::{FilecoinArgs, Input};
use super::files::WholeFile;
use super::watch::StageWatch;
use super::{files, waterfall};
use material::Material;
use memory::MemoryWatch;
use output::{Output, Taken};
use witnesses::{Gathered, Witnesses};

/// Proves a circuit. Every proof is verified before it is written.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true),
    // All that says another circuit or another witness; an option by itself cannot say it of those of other structs.
    group = ArgGroup::new("no_filecoin")
        .args(["circuit", "r1cs", "zkey", "wtns", "wasm", "input"])
        .multiple(true)
        .conflicts_with("filecoin"),
    after_help = "Examples:\n  proofline prove --circuit sha256:4 --params out/keys --count 8 --out out/proofs\n  \
                  proofline prove --r1cs c.r1cs --wtns c.wtns --params out/keys --out out/proofs\n  \
                  proofline prove --zkey c.zkey --wasm c.wasm --input 'inputs/*.json' --out out/proofs\n  \
                  proofline prove --filecoin porep --c1 porep-1.c1.json --sector 1 --miner f01000 --params out/keys --out out/proofs"
)]
pub struct Prove {
    #[command(flatten)]
    material: Material,
    #[command(flatten)]
    witnesses: Witnesses,
    #[command(flatten)]
    filecoin: FilecoinArgs,
    /// Proofs to make [default: 1, or one for each witness or input]; each of these is proved so many times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Proofs in the pipeline at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,
    #[command(flatten)]
    output: Output,
    /// Draws what each worker did when, as an SVG picture
    #[arg(long, value_name = "FILE")]
    waterfall: Option<PathBuf>,
    /// Writes every firing to a file: Chrome's trace format, which Perfetto opens and `calibrate` fits to
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// A watch, and a trace where one is wanted.
struct Both {
    watch: Arc<StageWatch>,
    trace: Option<Arc<TraceWriter<WholeFile>>>,
}

impl Observer for Both {
    fn event(&self, at: Duration, event: &Event) {
        self.watch.event(at, event);
        if let Some(trace) = &self.trace {
            trace.event(at, event);
        }
    }
}

impl Prove {
    /// Whether it is said which witnesses are proved.
    fn expect_witnesses(&self) -> Result<(), Fault> {
        if self.filecoin.claim.kind.is_some() || self.material.is_built_in() || self.witnesses.are_given() {
            return Ok(());
        }
        Err(Fault::Usage(
            "give the witnesses of the circuit: --wtns FILE..., or --wasm FILE and --input FILE...".into(),
        ))
    }

    pub fn run(&self) -> Result<(), Fault> {
        let outputs = [("--waterfall", &self.waterfall), ("--trace", &self.trace)];
        let outputs = outputs.into_iter().filter_map(|(name, file)| Some((name, file.as_deref()?)));
        let outputs: Vec<_> = outputs.collect();
        let found = self.witnesses.find()?;
        let inputs = [self.material.files(), found.files()].concat();
        files::expect_apart(inputs.iter().copied().chain(self.filecoin.files()), outputs.clone())?;
        self.expect_witnesses()?;
        if self.filecoin.claim.kind.is_some() {
            self.output.expect_network_format()?;
        }
        let filecoin = self.filecoin.claim.kind.is_some().then(|| Input::gather(&self.filecoin)).transpose()?;
        // Before any work: a folder that cannot be made must not cost an hour of proving.
        let mut folder = self.output.take(inputs.iter().map(|(_, file)| *file))?;
        outputs.into_iter().try_for_each(|output| self.output.expect_apart(output))?;
        for file in [&self.waterfall, &self.trace].into_iter().flatten() {
            files::expect_writable(file)?;
        }
        let witnesses = filecoin.map_or_else(|| found.gather(), |input| Ok(Gathered::Filecoin(input)))?;
        let (shape, key) = match &witnesses {
            Gathered::Filecoin(input) => input.material(self.material.params(), self.filecoin.published)?,
            _ => self.material.read()?,
        };
        let (shape, key) = (Arc::new(shape), Arc::new(key));
        let plan = Pipeline::plan();
        let proofs = self.count.unwrap_or(1).saturating_mul(witnesses.len());
        let watch = Arc::new(StageWatch::new(&plan, u64::from(proofs)));
        let trace = self.trace.as_deref().map(|file| new_trace(file, &plan)).transpose()?;
        let observer: Arc<dyn Observer> =
            Arc::new(Both { watch: Arc::clone(&watch), trace: trace.as_ref().map(|trace| Arc::clone(&trace.0)) });
        let prover = Prover::with(Options { observer, ..Options::default() })?;
        prover.notes().iter().for_each(|note| watch.say(&format!("note: {note}")));

        let clock = Instant::now();
        let run = Run { prover: &prover, shape: &shape, key: &key, witnesses: &witnesses, proofs, watch: &watch };
        let mut memory = MemoryWatch::new(&prover);
        let made = self.prove_all(&run, &mut folder, &mut memory);
        if made.is_err() {
            prover.abort();
        }
        prover.drain();
        let seconds = clock.elapsed().as_secs_f64();
        watch.clear();
        if let (Some(trace), Some(file)) = (&trace, &self.trace) {
            trace.0.close().map_err(|source| Error::Io { action: "write", file: file.clone(), source })?;
            trace.1.finish()?;
        }
        let Summary { verified, first_fault } = made?;
        say!(
            "{verified} of {proofs} proofs of {} verified in {seconds:.2} s: {:.3} proofs/s",
            shape.name(),
            f64::from(verified) / seconds
        );
        if verified > 0 {
            print_stages(&watch, seconds);
            memory.table(verified).iter().for_each(|line| say!("{line}"));
            match self.output.folder() {
                Some(folder) => say!("written to {}", folder.display()),
                None => say!("not written to files: --out DIR does"),
            }
        }
        if let Some(file) = &self.waterfall {
            files::write(file, waterfall::svg(&plan, &watch.spans()).as_bytes())?;
            say!("waterfall drawn in {}", file.display());
        }
        if let Some(file) = &self.trace {
            say!("trace written to {}", file.display());
        }
        first_fault.map_or(Ok(()), |(_, fault)| Err(fault))
    }

    /// Keeps `concurrency` jobs in the pipeline until all are done. A proof that fails fails alone; what cannot be
    /// written ends the run.
    fn prove_all(&self, run: &Run<'_>, folder: &mut Taken, memory: &mut MemoryWatch<'_>) -> Result<Summary, Fault> {
        let mut in_flight: VecDeque<(u32, PublicInputs, Instant, Handle)> = VecDeque::new();
        let mut summary = Summary { verified: 0, first_fault: None };
        let fail = |number: u32, fault: Fault, first: &mut Option<(u32, Fault)>| {
            let what = run.witnesses.label(number);
            // That of a lone proof is what the command ends with.
            if run.proofs > 1 {
                run.watch.say(&format!("{what} failed: {fault}"));
            }
            // Of several the command ends with that of the first proof, whichever was known first.
            if first.as_ref().is_none_or(|(lowest, _)| number < *lowest) {
                *first = Some((number, Fault::Of { what, fault: Box::new(fault) }));
            }
        };
        let mut next = 0;
        while next < run.proofs || !in_flight.is_empty() {
            if next < run.proofs && in_flight.len() < self.concurrency as usize {
                let number = next;
                next += 1;
                match run.job(number) {
                    Ok(job) => {
                        let public = job.public_inputs(0).clone();
                        memory.plan(|| run.prover.memory_plan(&job).sum());
                        in_flight.push_back((number, public, Instant::now(), run.prover.submit(job)?));
                    }
                    Err(fault) => fail(number, fault, &mut summary.first_fault),
                }
                continue;
            }
            let Some((number, public, begun, handle)) = in_flight.pop_front() else { continue };
            let job = handle.job();
            let proofs = match handle.wait() {
                Ok(proofs) => proofs,
                Err(failure) => {
                    fail(number, failure.into(), &mut summary.first_fault);
                    continue;
                }
            };
            // Those of an earlier run stay until there is a new one.
            folder.clear()?;
            if let Gathered::Filecoin(input) = run.witnesses {
                let (proof, statement) = input.proof(run.key, &proofs)?;
                self.output.write_with_statement(number, &proof, &statement)?;
            } else {
                for proof in proofs {
                    // The proof was verified against them.
                    let public = public.get().ok_or_else(|| Fault::Internal("a proof without its statement".into()))?;
                    self.output.write(self.material.format(), number, &proof, public)?;
                }
            }
            summary.verified += 1;
            memory.proved(summary.verified);
            // A job whose end the observer has not been told yet has ended just now.
            let seconds = run.watch.latency(job).unwrap_or_else(|| begun.elapsed()).as_secs_f64();
            run.watch.say(&format!("{} verified, {seconds:.2} s after it was submitted", run.witnesses.label(number)));
        }
        Ok(summary)
    }
}

/// What all proofs of a run have in common.
struct Run<'a> {
    prover: &'a Prover,
    shape: &'a Arc<CircuitShape>,
    key: &'a Arc<ProvingKey>,
    witnesses: &'a Gathered,
    proofs: u32,
    watch: &'a Arc<StageWatch>,
}

impl Run<'_> {
    fn job(&self, number: u32) -> Result<Job, Fault> {
        let watch = Arc::clone(self.watch);
        let witnesses = self.witnesses.sources(self.shape, number, move |line| watch.say(line))?;
        Ok(Job::new(Arc::clone(self.shape), Arc::clone(self.key), witnesses)?)
    }
}

/// What came of a run.
struct Summary {
    verified: u32,
    /// Of the first of the proofs that failed, and its number.
    first_fault: Option<(u32, Fault)>,
}

fn new_trace(file: &Path, plan: &Plan) -> Result<(Arc<TraceWriter<WholeFile>>, WholeFile), Fault> {
    let failed = |source| Error::Io { action: "write", file: file.to_owned(), source };
    let out = WholeFile::create(file)?;
    Ok((Arc::new(TraceWriter::new(plan, out.clone()).map_err(failed)?), out))
}

fn print_stages(watch: &StageWatch, seconds: f64) {
    say!("  {:14} {:>7} {:>8} {:>10} {:>10} {:>6}", "stage", "workers", "firings", "busy s", "waited s", "busy");
    for stage in watch.figures() {
        let busy = stage.busy.as_secs_f64();
        say!(
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
