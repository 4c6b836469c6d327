//! The process that proves with one policy.
//!
//! It says `ready PLAN_BYTES`, then proves as many as each line of standard input says and answers with a line of what it
//! counted. What it writes goes straight to the descriptor, for `strace` sees these lines among the calls that it counts.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use proofline::memory::Snapshot;
use proofline::runtime::plan::Dealloc;
use proofline::{CircuitShape, Job, Options, Prover, ProvingKey, Slots, unwatched};

use crate::peer::Turn;

/// Proofs in the pipeline at once: as many as `proofline prove` has.
const CONCURRENCY: usize = 4;

pub fn serve(policy: &str, circuit: &str, keys: &Path) -> Result<(), Box<dyn Error>> {
    keep_the_heap();
    let dealloc = Dealloc::ALL.iter().find(|(_, word)| *word == policy).map(|(dealloc, _)| *dealloc);
    let dealloc = dealloc.ok_or("no such policy")?;
    let shape = Arc::new(CircuitShape::from_builtin(circuit)?);
    let key = Arc::new(ProvingKey::read(&crate::folder(circuit, keys), &unwatched)?);
    let prover = Prover::with(Options { dealloc: Some(dealloc), slots: Slots::AllFirst, ..Options::default() })?;
    let job = || -> Result<Job, Box<dyn Error>> {
        let witness = shape.builtin().ok_or("a built-in circuit")?.fresh_witness();
        Ok(Job::new(Arc::clone(&shape), Arc::clone(&key), vec![witness])?)
    };
    let plan = prover.memory_plan(&job()?).sum();
    // What reading took is forgotten: the peak is that of proofs.
    // SAFETY: it takes no pointers; it gives free memory of the heap back to the system.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::malloc_trim(0)
    };
    std::fs::write("/proc/self/clear_refs", "5")?;
    say(&format!("ready {plan}"))?;
    for line in io::stdin().lock().lines() {
        let proofs: u32 = line?.trim().parse()?;
        let turn = prove(&prover, &job, proofs)?;
        say(&turn.to_line())?;
    }
    Ok(())
}

/// As the command does.
fn keep_the_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in
        [(libc::M_TRIM_THRESHOLD, i32::MAX), (libc::M_MMAP_THRESHOLD, 32 << 20), (libc::M_TOP_PAD, 1 << 20)]
    {
        // SAFETY: no other thread runs yet.
        unsafe { libc::mallopt(parameter, value) };
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn prove(prover: &Prover, job: &impl Fn() -> Result<Job, Box<dyn Error>>, proofs: u32) -> Result<Turn, Box<dyn Error>> {
    // Room for all samples before the first.
    let mut faults = Vec::with_capacity(proofs as usize);
    let mut resident = Vec::with_capacity(proofs as usize);
    let (before, arena, clock) = (Snapshot::now(), prover.memory(), Instant::now());
    let mut counted = fault_count();
    let (mut submitted, mut running) = (0, VecDeque::with_capacity(CONCURRENCY));
    while submitted < proofs || !running.is_empty() {
        if submitted < proofs && running.len() < CONCURRENCY {
            running.push_back(prover.submit(job()?)?);
            submitted += 1;
            continue;
        }
        let Some(handle) = running.pop_front() else { continue };
        handle.wait()?;
        let now = fault_count();
        faults.push(now - counted);
        counted = now;
        resident.push(resident_bytes());
    }
    prover.drain();
    let seconds = clock.elapsed().as_secs_f64();
    let (after, arena_after) = (Snapshot::now().since(&before), prover.memory());
    Ok(Turn {
        seconds,
        faults,
        resident,
        major: after.major_faults,
        shootdowns: after.shootdowns,
        peak: after.peak_resident,
        large: after.large_pages,
        maps: arena_after.maps - arena.maps,
        unmaps: arena_after.unmaps - arena.unmaps,
        advices: arena_after.advices - arena.advices,
    })
}

/// Page faults of the process so far, of both kinds.
fn fault_count() -> u64 {
    // SAFETY: all-zero is a value of the structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to the structure that it is given.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    u64::try_from(usage.ru_minflt + usage.ru_majflt).unwrap_or(0)
}

/// Memory that is resident now.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    // SAFETY: it takes no pointers.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    pages.unwrap_or(0) * page
}
