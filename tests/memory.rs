//! Jobs are admitted as far as there is memory for them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofline::memory::Counts;
use proofline::runtime::plan::{Dealloc, GiveBack};
use proofline::setup::{Entropy, generate};
use proofline::{CircuitShape, Error, Job, Options, Prover, ProvingKey, Residents, Slots, SubmitError, unwatched};

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
        let witness = self.shape.builtin().unwrap().fresh_witness();
        Job::new(Arc::clone(&self.shape), Arc::clone(&self.key), vec![witness]).unwrap()
    }
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
    for part in
        ["proving key", "slots of `spmv`", "workspace of `gpu_ntt_msm`", "together", "there is", "control group"]
    {
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
