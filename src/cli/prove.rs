//! `proofline prove`: proofs, verified, to files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args};
use proofline::runtime::event::{Event, Observer};
use proofline::runtime::export::Graph;
use proofline::runtime::plan::Plan;
use proofline::runtime::trace::TraceWriter;
use proofline::verify::{ProofPoints, snarkjs, write_public_inputs};
use proofline::{
    CircuitShape, Error, Handle, Job, Options, Pipeline, Progress, Proof, Prover, ProvingKey, WitnessSource,
};

use super::exit::Fault;
use super::stored::{self, Choice};
use super::watch::{Bars, StageWatch, pool_of_all_cores};
use super::{files, waterfall, zkey};

/// Proves a circuit. Every proof is verified before it is written.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true).multiple(true),
    after_help = "Examples:\n  proofline prove --circuit sha256:4 --params out/keys --count 8 --out out/proofs\n  \
                  proofline prove --r1cs c.r1cs --wtns c.wtns --params out/keys --out out/proofs\n  \
                  proofline prove --zkey c.zkey --wtns c.wtns --out out/proofs"
)]
pub struct Prove {
    #[command(flatten)]
    choice: Choice,
    /// A key of snarkjs, and the circuit that it is of; with --r1cs an unsatisfied constraint is named before the proof
    #[arg(long, value_name = "FILE", group = "what", conflicts_with = "circuit")]
    zkey: Option<PathBuf>,
    /// Witnesses of a circuit of circom, one for each proof
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "circuit", required_unless_present = "circuit")]
    wtns: Vec<PathBuf>,
    /// The key: the folder that `setup` wrote, a `.params` file of bellperson, or a converted one
    #[arg(long, value_name = "DIR", required_unless_present = "zkey", conflicts_with = "zkey")]
    params: Option<PathBuf>,
    /// Proofs to make [default: 1, or one for each witness]; with --wtns each witness is proved so many times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Proofs in the pipeline at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,
    /// The folder to write to: `proof-N.bin` or `proof-N.json`, and `public-N.json`; without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How proofs are written [default: json with --zkey, else bin]
    #[arg(long, value_enum, requires = "out")]
    format: Option<ProofFormat>,
    /// Removes the proofs of an earlier run from that folder first
    #[arg(long, requires = "out")]
    force: bool,
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
    trace: Option<Arc<TraceWriter<BufWriter<File>>>>,
}

impl Observer for Both {
    fn event(&self, at: Duration, event: &Event) {
        self.watch.event(at, event);
        if let Some(trace) = &self.trace {
            trace.event(at, event);
        }
    }
}

/// What a proof looks like on disk.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProofFormat {
    /// 192 bytes: A, B, C compressed, as bellperson writes them
    Bin,
    /// snarkjs' proof.json
    Json,
}

impl Prove {
    pub fn run(&self) -> Result<(), Fault> {
        // Before any work: a folder that cannot be made must not cost an hour of proving.
        let _lock = self.out.as_deref().map(files::FolderLock::take).transpose()?;
        if let Some(folder) = &self.out {
            self.clear(folder)?;
        }
        for file in [&self.waterfall, &self.trace].into_iter().flatten() {
            files::expect_writable(file)?;
        }
        let (shape, key) = self.material()?;
        let (shape, key) = (Arc::new(shape), Arc::new(key));
        let plan = Pipeline::plan();
        let proofs = self.proofs();
        let watch = Arc::new(StageWatch::new(&plan, u64::from(proofs)));
        let trace = self.trace.as_deref().map(|file| new_trace(file, &plan)).transpose()?;
        let observer: Arc<dyn Observer> = Arc::new(Both { watch: Arc::clone(&watch), trace: trace.clone() });
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
        if let (Some(trace), Some(file)) = (&trace, &self.trace) {
            trace.close().map_err(|source| Error::Io { action: "write", file: file.clone(), source })?;
        }
        let Summary { verified, first_fault } = made?;
        say!(
            "{verified} of {proofs} proofs of {} verified in {seconds:.2} s: {:.3} proofs/s",
            shape.name(),
            f64::from(verified) / seconds
        );
        print_stages(&watch, seconds);
        if let Some(folder) = &self.out {
            say!("written to {}", folder.display());
        }
        if let Some(file) = &self.waterfall {
            files::write(file, waterfall::svg(&plan, &watch.spans()).as_bytes())?;
            say!("waterfall drawn in {}", file.display());
        }
        if let Some(file) = &self.trace {
            say!("trace written to {}", file.display());
        }
        first_fault.map_or(Ok(()), Err)
    }

    /// The circuit and the key, which belong together.
    fn material(&self) -> Result<(CircuitShape, ProvingKey), Fault> {
        let params = match (&self.zkey, &self.params) {
            (Some(zkey), _) => {
                let (shape, key) = zkey::read(zkey, &self.choice)?;
                key.check(&shape)?;
                return Ok((shape, key));
            }
            (None, Some(params)) => params,
            (None, None) => return Err(Fault::Usage("give a key: --params DIR or --zkey FILE".into())),
        };
        let origin = self.choice.origin()?;
        let kept = self.choice.kept(params, origin)?;
        let keep = kept.is_none();
        let shape = kept.map_or_else(|| self.choice.extract(), Ok)?;
        let key = read_key(params)?;
        key.check(&shape)?;
        let place = stored::beside(params);
        if let Some(error) = keep.then(|| shape.write(&place, origin)).and_then(Result::err) {
            eprintln!("note: the circuit is not kept beside its key and will be extracted again: {error}");
        }
        Ok((shape, key))
    }

    fn format(&self) -> ProofFormat {
        self.format.unwrap_or(if self.zkey.is_some() { ProofFormat::Json } else { ProofFormat::Bin })
    }

    fn proofs(&self) -> u32 {
        let witnesses = u32::try_from(self.wtns.len().max(1)).unwrap_or(u32::MAX);
        self.count.unwrap_or(1).saturating_mul(witnesses)
    }

    /// Refuses a folder that holds proofs of an earlier run, or removes them: old and new ones look alike.
    fn clear(&self, folder: &Path) -> Result<(), Fault> {
        let fail = |action, file: &Path| {
            let file = file.to_owned();
            move |source| Error::Io { action, file, source }
        };
        for entry in std::fs::read_dir(folder).map_err(fail("read", folder))? {
            let file = entry.map_err(fail("read", folder))?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let old = (name.starts_with("proof-") && (name.ends_with(".bin") || name.ends_with(".json")))
                || (name.starts_with("public-") && name.ends_with(".json"));
            if old && !self.force {
                return Err(Fault::Usage(format!(
                    "{} is of an earlier run: choose another folder for --out, or remove the proofs in it with --force",
                    file.display()
                )));
            }
            if old {
                std::fs::remove_file(&file).map_err(fail("remove", &file))?;
            }
        }
        Ok(())
    }

    /// Keeps `concurrency` jobs in the pipeline until all are done. A proof that fails fails alone; what cannot be
    /// written ends the run.
    fn prove_all(
        &self,
        prover: &Prover,
        shape: &Arc<CircuitShape>,
        key: &Arc<ProvingKey>,
        watch: &StageWatch,
    ) -> Result<Summary, Fault> {
        let mut in_flight: VecDeque<(u32, String, Instant, Handle)> = VecDeque::new();
        let mut summary = Summary { verified: 0, first_fault: None };
        let fail = |number: u32, fault: Fault, first: &mut Option<Fault>| {
            watch.say(&format!("{} failed: {fault}", self.label(number)));
            first.get_or_insert(fault);
        };
        let mut next = 0;
        while next < self.proofs() || !in_flight.is_empty() {
            if next < self.proofs() && in_flight.len() < self.concurrency as usize {
                let number = next;
                next += 1;
                match self.job(shape, key, number) {
                    Ok(job) => {
                        let public = write_public_inputs(job.public_inputs(0));
                        in_flight.push_back((number, public, Instant::now(), prover.submit(job)?));
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
            for proof in proofs {
                if let Some(folder) = &self.out {
                    self.write(folder, number, &proof)?;
                    files::write(&folder.join(format!("public-{number}.json")), public.as_bytes())?;
                }
            }
            summary.verified += 1;
            // A job whose end the observer has not been told yet has ended just now.
            let seconds = watch.latency(job).unwrap_or_else(|| begun.elapsed()).as_secs_f64();
            watch.say(&format!("{} verified, {seconds:.2} s after it was submitted", self.label(number)));
        }
        Ok(summary)
    }

    fn write(&self, folder: &Path, number: u32, proof: &Proof) -> Result<(), Error> {
        match self.format() {
            ProofFormat::Bin => files::write(&folder.join(format!("proof-{number}.bin")), &proof.bytes),
            ProofFormat::Json => {
                let text = snarkjs::write_proof(&ProofPoints::parse(&proof.bytes)?);
                files::write(&folder.join(format!("proof-{number}.json")), text.as_bytes())
            }
        }
    }

    /// A proof as its owner knows it: the number that its file has, and the witness that it is of.
    fn label(&self, number: u32) -> String {
        match self.wtns_of(number) {
            Some(file) => format!("proof-{number} ({})", file.display()),
            None => format!("proof-{number}"),
        }
    }

    fn job(&self, shape: &Arc<CircuitShape>, key: &Arc<ProvingKey>, number: u32) -> Result<Job, Fault> {
        Ok(Job::new(Arc::clone(shape), Arc::clone(key), vec![self.witness(shape, number)?])?)
    }

    fn wtns_of(&self, number: u32) -> Option<&PathBuf> {
        self.wtns.get(number as usize % self.wtns.len().max(1))
    }

    fn witness(&self, shape: &CircuitShape, number: u32) -> Result<WitnessSource, Fault> {
        match (shape.builtin(), self.wtns_of(number)) {
            (Some(builtin), _) => Ok(builtin.fresh_witness()),
            (None, Some(file)) => Ok(WitnessSource::from_wtns(shape, file)?),
            (None, None) => Err(Fault::Usage("give the witnesses of the circuit: --wtns FILE".into())),
        }
    }
}

/// What came of a run.
struct Summary {
    verified: u32,
    first_fault: Option<Fault>,
}

fn new_trace(file: &Path, plan: &Plan) -> Result<Arc<TraceWriter<BufWriter<File>>>, Fault> {
    let failed = |source| Error::Io { action: "write", file: file.to_owned(), source };
    let out = BufWriter::new(File::create(file).map_err(failed)?);
    Ok(Arc::new(TraceWriter::new(plan, out).map_err(failed)?))
}

fn read_key(path: &Path) -> Result<ProvingKey, Fault> {
    let bars = Bars::new();
    let watch = |progress: Progress| bars.progress(progress);
    let key = pool_of_all_cores()?.install(|| ProvingKey::read(path, &watch));
    bars.clear();
    Ok(key?)
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
