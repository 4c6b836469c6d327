//! Jobs are admitted as far as there is memory for them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofline::memory::Counts;
use proofline::runtime::admission::PROGRAM_BYTES;
use proofline::runtime::plan::{Dealloc, GiveBack};
use proofline::setup::{Entropy, generate};
use proofline::{
    CircuitShape, Error, Job, Options, PARAMS_FILE, Prover, ProvingKey, Residents, Slots, SubmitError, WitnessSource,
    bytes_of_key, resident, unwatched,
};

struct Subject {
    shape: Arc<CircuitShape>,
    key: Arc<ProvingKey>,
}

impl Subject {
    fn new(name: &str) -> Self {
        let shape = Arc::new(CircuitShape::from_builtin(name).unwrap());
        let key = Arc::new(ProvingKey::new(generate(&shape, &Entropy::Seed(name), &unwatched).unwrap()));
        Self { shape, key }
    }

    fn job(&self) -> Job {
        Job::new(Arc::clone(&self.shape), Arc::clone(&self.key), vec![witness(self)]).unwrap()
    }
}

fn witness(subject: &Subject) -> WitnessSource {
    subject.shape.builtin().unwrap().fresh_witness()
}

/// A prover in a control group of version 2 with so much memory.
fn with_limit(root: &Path, bytes: u64) -> Prover {
    with(root, bytes, Options::default())
}

fn with(root: &Path, bytes: u64, options: Options) -> Prover {
    let group = root.join("sys/fs/cgroup/jobs");
    std::fs::create_dir_all(&group).unwrap();
    std::fs::create_dir_all(root.join("proc/self")).unwrap();
    std::fs::write(root.join("proc/self/cgroup"), "0::/jobs\n").unwrap();
    std::fs::write(group.join("memory.max"), format!("{bytes}\n")).unwrap();
    Prover::with(Options { system: root.to_owned(), ..options }).unwrap()
}

#[test]
fn a_job_is_refused_before_it_starts_or_runs_to_its_end() {
    let (small, large) = (Subject::new("sha256:1"), Subject::new("sha256:2"));
    let folder = tempfile::tempdir().unwrap();
    let plan = |subject: &Subject| Prover::start().unwrap().memory_plan(&subject.job()).sum();
    let (of_small, of_large) = (plan(&small), plan(&large));
    assert!(of_small < of_large);

    // Just below the plan.
    let prover = with_limit(folder.path(), of_large - 1);
    let refused = prover.submit(large.job()).err().unwrap();
    let text = refused.to_string();
    assert!(matches!(refused, SubmitError::NoMemory { .. }), "{text}");
    for part in ["proving key", "slots of `spmv`", "workspace of `b_g2_msm`", "together", "there is", "control group"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert_eq!(prover.memory().maps, 0, "nothing was done for it");
    assert!(prover.is_idle());
    assert_eq!(prover.submit(small.job()).unwrap().wait().unwrap().len(), 1);
    drop(prover);

    // Just enough for either, not for both at once: slots of one size make room for those of the other.
    let prover = with_limit(folder.path(), of_large);
    let handles: Vec<_> = [&large, &small, &large, &small].map(|subject| prover.submit(subject.job()).unwrap()).into();
    handles.into_iter().for_each(|handle| assert_eq!(handle.wait().unwrap().len(), 1));
    prover.drain();
    let counts = prover.memory();
    assert!(counts.unmaps > 0 && counts.peak_bytes <= of_large, "{counts:?}");
    // Jobs that wait for memory can be cancelled, and a prover with some can be dropped.
    let (first, second) = (prover.submit(large.job()).unwrap(), prover.submit(small.job()).unwrap());
    second.cancel();
    assert!(second.wait().is_err());
    first.wait().unwrap();
    prover.drain();
    assert!(prover.is_idle());
}

#[test]
fn keys_stay_between_jobs_until_their_memory_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let residents = Residents::new();
    let loads = AtomicUsize::new(0);
    let job = |name: &str| {
        let shape = residents.get(&format!("circuit {name}"), || CircuitShape::from_builtin(name)).unwrap();
        let key = residents.get(name, || {
            loads.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Error>(ProvingKey::new(generate(&shape, &Entropy::Seed(name), &unwatched)?))
        });
        let witness = shape.builtin().unwrap().fresh_witness();
        Job::new(shape, key.unwrap(), vec![witness]).unwrap()
    };
    let (large, small) = ("sha256:2", "sha256:1");
    let of_large = Prover::start().unwrap().memory_plan(&job(large)).sum();
    let keeper = Some(Arc::clone(&residents) as _);
    let prover = with(folder.path(), of_large, Options { keeper, ..Options::default() });
    let prove = |name| {
        assert_eq!(prover.submit(job(name)).unwrap().wait().unwrap().len(), 1);
        prover.drain();
    };
    for _ in 0..3 {
        prove(large);
    }
    assert_eq!(loads.load(Ordering::Relaxed), 1, "the key stayed between jobs");
    // There is no room for anything beside the large job. Its slots are idle for as long as its key, and go first; that
    // is enough for the small one.
    prove(small);
    prove(small);
    let names = || {
        let mut names = residents.names();
        names.sort();
        names
    };
    let of_large = [format!("circuit {large}"), large.to_owned()];
    assert_eq!(names(), [&format!("circuit {small}"), &of_large[0], small, large]);
    // All that is the small one's must go for the large one, whose key is still there.
    prove(large);
    assert_eq!((names(), loads.load(Ordering::Relaxed)), (of_large.to_vec(), 2), "what nobody used made room");
    prove(small);
    assert_eq!(loads.load(Ordering::Relaxed), 3, "it had gone, and was loaded anew");
}

#[test]
fn idle_slots_go_back_to_the_kernel_as_the_graph_says() {
    let (small, large) = (Subject::new("sha256:1"), Subject::new("sha256:2"));
    let folder = tempfile::tempdir().unwrap();
    let of_large = Prover::start().unwrap().memory_plan(&large.job()).sum();
    for give_back in [GiveBack::Unmap, GiveBack::DontNeed, GiveBack::Free] {
        let options = Options { give_back: Some(give_back), slots: Slots::AllFirst, ..Options::default() };
        let prover = with(folder.path(), of_large, options);
        // Each makes room for the other.
        let mut rounds = Vec::new();
        for _ in 0..3 {
            for subject in [&large, &small] {
                prover.submit(subject.job()).unwrap().wait().unwrap();
                prover.drain();
            }
            rounds.push(prover.memory());
        }
        let again = |count: fn(&Counts) -> u64| count(&rounds[2]) - count(&rounds[1]);
        let (maps, unmaps) = (again(|counts| counts.maps), again(|counts| counts.unmaps));
        assert_eq!((maps > 0, unmaps > 0), [(false, false), (true, true)][usize::from(give_back == GiveBack::Unmap)]);
        assert!(again(|counts| counts.advices) > 0, "{give_back:?}: {rounds:?}");
        assert!(rounds[2].peak_bytes <= of_large, "{give_back:?}: {rounds:?}");
    }
}

#[test]
fn the_policies_that_free_keep_no_slots() {
    let subject = Subject::new("sha256:1");
    for dealloc in [Dealloc::Recycle, Dealloc::BoundedFree, Dealloc::UnboundedFree] {
        let prover = Prover::with(Options { dealloc: Some(dealloc), ..Options::default() }).unwrap();
        let mut mapped = Vec::new();
        for _ in 0..3 {
            prover.submit(subject.job()).unwrap().wait().unwrap();
            prover.drain();
            mapped.push(prover.memory().maps);
        }
        let again = mapped[2] - mapped[1];
        assert_eq!(again > 0, dealloc != Dealloc::Recycle, "{dealloc:?}: {mapped:?}");
    }
}

/// A key counts from before it is read: in the place of its file's bytes, of which the job says then how many there are.
#[test]
fn a_key_is_reserved_before_it_is_loaded_and_given_back_if_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (name, keys) = ("sha256:1", folder.path().join("keys"));
    let subject = Subject::new(name);
    generate(&subject.shape, &Entropy::Seed(name), &unwatched).unwrap().write(&keys).unwrap();
    let file = keys.join(PARAMS_FILE);
    let of_job = Prover::start().unwrap().memory_plan(&subject.job()).sum();
    let bytes = bytes_of_key(&keys).unwrap();
    assert!(bytes >= subject.key.bytes());

    let residents = Residents::new();
    let keeper = || Some(Arc::clone(&residents) as _);
    // Just above what its job takes, were the file as small as the key.
    let limit = of_job + bytes - subject.key.bytes();
    let prover = with(folder.path(), limit, Options { keeper: keeper(), ..Options::default() });
    let need = |bytes| [residents.need("key", "proving key of a test", bytes)];

    // One that can never fit is refused before anything of it is read, with the table.
    let refused = prover.reserve(&need(limit)).unwrap_err().to_string();
    for part in ["proving key of a test", "program, heap, stacks", "together", "control group"] {
        assert!(refused.contains(part), "no {part} in:\n{refused}");
    }
    let least = Prover::start().unwrap();
    assert!(least.reserve(&need(u64::MAX)).is_err());
    assert!(prover.reserve(&need(limit - PROGRAM_BYTES)).is_ok(), "exactly what there is");
    assert!(prover.reserve(&need(limit - PROGRAM_BYTES + 1)).is_err(), "one byte more");

    // A file that is cut off in the middle: nothing stays behind.
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let load = || residents.get("key", || ProvingKey::read(&keys, &unwatched));
    {
        let _reserved = prover.reserve(&need(bytes)).unwrap();
        let error = load().unwrap_err().to_string();
        assert!(error.contains(PARAMS_FILE), "{error}");
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(prover.reserve(&need(limit - PROGRAM_BYTES)).is_ok(), "all of it is there again");

    // Who loads it has its place; a job without a key of its own goes on beside it, or after it.
    let reserved = prover.reserve(&need(bytes)).unwrap();
    let key = load().unwrap();
    let job = || Job::new(Arc::clone(&subject.shape), Arc::clone(&key), vec![witness(&subject)]).unwrap();
    let first = prover.submit_in(reserved, job()).unwrap();
    let second = prover.submit(job()).unwrap();
    [first, second].into_iter().for_each(|handle| assert_eq!(handle.wait().unwrap().len(), 1));
    prover.drain();
    assert!(residents.names() == ["key"] && prover.is_idle());

    // A reservation of another prover reserves nothing here, and is no harm.
    let other = with(&folder.path().join("other"), limit, Options { keeper: keeper(), ..Options::default() });
    let foreign = other.reserve(&need(bytes)).unwrap();
    assert_eq!(prover.submit_in(foreign, job()).unwrap().wait().unwrap().len(), 1);
    assert!(other.reserve(&need(limit - PROGRAM_BYTES)).is_ok(), "it was given back there");
}

/// What a job does not bring and was reserved counts as its own, and is refused if both cannot fit: it would wait for itself.
#[test]
fn what_was_reserved_for_nothing_is_named_in_the_table() {
    let subject = Subject::new("sha256:1");
    let folder = tempfile::tempdir().unwrap();
    let of_job = Prover::start().unwrap().memory_plan(&subject.job()).sum();
    let residents = Residents::new();
    let prover = with(folder.path(), of_job + 5, Options { keeper: Some(residents.clone()), ..Options::default() });
    let reserve = |bytes| prover.reserve(&[residents.need("no key of ours", "key", bytes)]).unwrap();
    let refused = prover.submit_in(reserve(6), subject.job()).err().unwrap().to_string();
    assert!(refused.contains("reserved, and not what the job brings"), "{refused}");
    assert_eq!(prover.submit_in(reserve(5), subject.job()).unwrap().wait().unwrap().len(), 1);
}

/// Keys that do not fit together take turns, whoever comes when: while one is loaded nobody else gets its memory, what waits to
/// be loaded waits for jobs that run, and all come to their end.
#[test]
fn many_who_load_and_prove_at_once_all_come_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::new("sha256:1");
    let limit = Prover::start().unwrap().memory_plan(&subject.job()).sum();
    let Subject { shape, key } = subject;
    let bytes = key.bytes();
    drop(key);
    let names = ["first", "second"];
    let files = names.map(|name| {
        let file = folder.path().join(name);
        generate(&shape, &Entropy::Seed(name), &unwatched).unwrap().write(&file).unwrap();
        resident::convert(&file, &unwatched).unwrap();
        file
    });
    assert_eq!(files.each_ref().map(|file| bytes_of_key(file).unwrap()), [bytes; 2]);
    let residents = Residents::new();
    let keeper = Some(Arc::clone(&residents) as _);
    let prover = with(folder.path(), limit, Options { keeper, ..Options::default() });
    let prove = |which: usize, turn: usize| {
        let reserved = prover.reserve(&[residents.need(names[which], "key", bytes)]).unwrap();
        if turn == 3 {
            // Its file cannot be read, say.
            return;
        }
        let key = residents.get(names[which], || ProvingKey::read(&files[which], &unwatched)).unwrap();
        let witness = shape.builtin().unwrap().fresh_witness();
        let job = Job::new(Arc::clone(&shape), key, vec![witness]).unwrap();
        let handle = prover.submit_in(reserved, job).unwrap();
        if turn == 1 {
            handle.cancel();
        }
        // Its proof, or that it was cancelled.
        drop(handle.wait());
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let prove = &prove;
            scope.spawn(move || (0..2).for_each(|round| prove((thread + round) % 2, thread)));
        }
    });
    prover.drain();
    assert!(prover.is_idle() && prover.memory().peak_bytes <= limit);
    let all = prover.reserve(&[residents.need("x", "all of it", limit - PROGRAM_BYTES)]);
    assert!(all.is_ok(), "nothing is left behind");
    assert_eq!(residents.names(), [""; 0], "what was idle made room");
}

/// A prover that is told to stop lets go of those who wait for room.
#[test]
fn who_waits_for_room_is_told_when_the_prover_stops() {
    let folder = tempfile::tempdir().unwrap();
    let residents = Residents::new();
    let prover =
        with(folder.path(), 2 * PROGRAM_BYTES, Options { keeper: Some(residents.clone()), ..Options::default() });
    let all = [residents.need("first", "key", PROGRAM_BYTES)];
    let reserved = prover.reserve(&all).unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| prover.reserve(&[residents.need("second", "key", 1)]).err());
        prover.abort();
        let why = waits.join().unwrap().unwrap();
        assert!(matches!(why, SubmitError::Closed(_)), "{why}");
    });
    drop(reserved);
    assert!(matches!(prover.reserve(&all), Err(SubmitError::Closed(_))));
}
