//! Filecoin's proofs at sectors of 2 KiB: from the node's own file to a proof that the network's code has judged, with the key
//! resident here and mapped in bellperson, as the network's programs have it.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bellperson::groth16::{MappedParameters, Parameters, create_proof};
use blstrs::Bls12;
use proofline::setup::{Entropy, generate};
use proofline::{CircuitShape, Job, Prover, ProvingKey, VerifyingKey, resident, unwatched};
use proofline_stages::circuits::filecoin::{Family, Kind, Statement, Task, prover_id, read_c1};

use crate::provers::{BELLPERSON, OURS, Peer, blinding};
use crate::table::{Bar, Contender, Table, rounds};

/// The most that a proof of replication may take, in MiB: 2.0 GB.
const MOST_PEAK_MIB: u64 = 1907;

/// What is proved, and what must be reached against bellperson.
struct Row {
    kind: Kind,
    statement: &'static str,
    files: &'static [&'static str],
    bar: Bar,
    /// Rounds of each run are no more: bellperson takes a minute for some.
    most_rounds: usize,
}

const fn bar(required: f64, goal: f64) -> Bar {
    Bar { required, goal }
}

const ROWS: [Row; 4] = [
    Row {
        kind: Kind::Porep,
        statement: "porep-2k-sector1.meta.json",
        files: &["porep-2k-sector1.c1.json"],
        bar: bar(6.0, 10.0),
        most_rounds: 2,
    },
    Row {
        kind: Kind::Update,
        statement: "update-2k-sector1.meta.json",
        files: &["update-2k-sector1.vanilla0.bincode"],
        bar: bar(6.0, 6.0),
        most_rounds: 2,
    },
    Row {
        kind: Kind::Winning,
        statement: "winning-2k.meta.json",
        files: &["winning-2k.vanilla0.bincode"],
        bar: bar(5.0, 5.0),
        most_rounds: 5,
    },
    Row {
        kind: Kind::Window,
        statement: "window-2k.meta.json",
        files: &["window-2k.vanilla0.bincode", "window-2k.vanilla1.bincode"],
        bar: bar(4.0, 4.0),
        most_rounds: 7,
    },
];

/// The files of a proof, in memory, and its key on disk.
struct Subject {
    family: Family,
    statement: Statement,
    files: Vec<(PathBuf, Vec<u8>)>,
    params: PathBuf,
    vk: PathBuf,
}

impl Subject {
    fn open(row: &Row, keys: &Path) -> Result<Self, Box<dyn Error>> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/filecoin");
        let fields: serde_json::Value = serde_json::from_slice(&std::fs::read(data.join(row.statement))?)?;
        let statement = Statement::from_json(row.kind, fields.as_object().ok_or("a statement is an object")?)?;
        let read = |name: &&str| Ok((PathBuf::from(name), std::fs::read(data.join(name))?));
        let files = row.files.iter().map(read).collect::<Result<Vec<_>, std::io::Error>>()?;
        let (family, folder) = (statement.family(), keys.join("filecoin"));
        let (params, vk) = (family.params_in(&folder)?, family.vk_in(&folder)?);
        if !params.exists() {
            eprintln!("making a key for {family}");
            let key = generate(&family.compile()?, &Entropy::Seed("bench"), &unwatched)?;
            key.write_converted(&params, &vk, &unwatched)?;
        }
        if !resident::beside(&params).exists() {
            eprintln!("converting the key of {family}");
            resident::convert(&params, &unwatched)?;
        }
        Ok(Self { family, statement, files, params, vk })
    }

    /// From the bytes of the files to circuits.
    fn task(&self) -> Result<Task, Box<dyn Error>> {
        let files: Vec<(&Path, &[u8])> = self.files.iter().map(|(name, bytes)| (&**name, &bytes[..])).collect();
        Ok(match &self.statement {
            Statement::Seal(seal) => read_c1(files[0].0, files[0].1, (prover_id("f01000")?, seal.sector))?.1,
            Statement::Post(post) => post.clone().read_vanilla(&files)?,
            Statement::Update(update) => update.read_vanilla(&files)?,
        })
    }

    fn expect_valid(&self, key: &VerifyingKey, proof: &[u8]) -> Result<(), Box<dyn Error>> {
        if self.statement.verify(key, Path::new("the proof"), proof)? {
            Ok(())
        } else {
            Err("a proof is not valid".into())
        }
    }
}

struct Ours {
    prover: Prover,
    shape: Arc<CircuitShape>,
    key: Arc<ProvingKey>,
    subject: Subject,
}

impl Peer for Ours {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let (r, s) = blinding();
        let job = Job::new(Arc::clone(&self.shape), Arc::clone(&self.key), self.subject.task()?.witnesses())?;
        let proofs = self.prover.submit(job.with_blinding_for_tests(0, r, s))?.wait()?;
        let proof = proofs[0].bytes.to_vec();
        self.subject.expect_valid(self.key.verifying_key(), &proof)?;
        Ok(proof)
    }
}

struct Bellperson {
    key: MappedParameters<Bls12>,
    vk: VerifyingKey,
    subject: Subject,
}

impl Peer for Bellperson {
    fn prove(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let (r, s) = blinding();
        let proof = create_proof(self.subject.task()?.circuit(0), &self.key, r, s)?;
        let mut bytes = Vec::new();
        proof.write(&mut bytes)?;
        self.subject.expect_valid(&self.vk, &bytes)?;
        Ok(bytes)
    }
}

fn open(name: &str, subject: Subject) -> Result<Box<dyn Peer>, Box<dyn Error>> {
    if name == OURS {
        let shape = Arc::new(subject.family.compile()?);
        let key = Arc::new(ProvingKey::read(&subject.params, &unwatched)?);
        return Ok(Box::new(Ours { prover: Prover::start()?, shape, key, subject }));
    }
    let key = Parameters::build_mapped_parameters(subject.params.clone(), false)?;
    Ok(Box::new(Bellperson { key, vk: VerifyingKey::read(&subject.vk)?, subject }))
}

/// The key of the proof of replication, the largest here; made and converted if it is not there.
pub fn porep_key(keys: &Path) -> Result<PathBuf, Box<dyn Error>> {
    Ok(Subject::open(&ROWS[0], keys)?.params)
}

/// A prover of one of these proofs, for the measurement of its peak; nothing for other names.
pub fn peer(prover: &str, circuit: &str, keys: &Path) -> Result<Option<Box<dyn Peer>>, Box<dyn Error>> {
    for row in &ROWS {
        if circuit == format!("{}-2KiB", row.kind) {
            return Ok(Some(open(prover, Subject::open(row, keys)?)?));
        }
    }
    Ok(None)
}

/// CPU seconds of this process so far.
fn cpu() -> f64 {
    // SAFETY: the structure is plain numbers, which zeros are, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// All four kinds: times with a verdict, CPU seconds beside them, and peaks.
pub fn rows(runs: usize, keys: &Path, table: &mut Table) -> Result<(), Box<dyn Error>> {
    for row in &ROWS {
        let expected: RefCell<Option<Vec<u8>>> = RefCell::new(None);
        let least = [OURS, BELLPERSON].map(|_| Cell::new(f64::INFINITY));
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        for (name, least) in [OURS, BELLPERSON].into_iter().zip(&least) {
            let prover = open(name, Subject::open(row, keys)?)?;
            let expected = &expected;
            contenders.push((
                name,
                Box::new(move || {
                    let before = cpu();
                    let proof = prover.prove()?;
                    least.set(least.get().min(cpu() - before));
                    if *expected.borrow_mut().get_or_insert_with(|| proof.clone()) != proof {
                        return Err("the provers' proofs differ".into());
                    }
                    Ok(())
                }),
            ));
        }
        let times = rounds(runs.min(row.most_rounds), contenders)?;
        let (name, [ours, theirs]) = (format!("{}-2KiB", row.kind), least.map(Cell::into_inner));
        let note = format!("CPU {ours:.2} s, theirs {theirs:.2} s");
        table.times(&format!("{name}, file to judged proof"), BELLPERSON, (&times[0], &times[1]), Some(row.bar), &note);
        let peak = |prover| crate::memory::peak_of_process(prover, &name, keys);
        let (ours, theirs) = (peak(OURS)?, peak(BELLPERSON)?);
        // What must be reached is a number of bytes, not a ratio, and for one of them.
        let required = theirs as f64 / if row.kind == Kind::Porep { MOST_PEAK_MIB as f64 } else { f64::INFINITY };
        table.peaks(&format!("peak RSS, {name}"), BELLPERSON, (ours, theirs), bar(required, required));
    }
    Ok(())
}
