//! What proofs ask of the kernel's memory, under the three policies of dead slots, in one run.
//!
//! Each policy has a process of its own, which stays for the whole run; they prove in turns, so that what disturbs the
//! machine disturbs all. After the proofs that warm up, every figure is taken between the first and the last proof of a
//! turn. Shootdowns are counted over the whole machine: what it has without us is measured, and stated.

mod group;
mod peer;
mod serve;
mod system_calls;
mod table;
#[path = "../../verdicts.rs"]
mod verdicts;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use proofline::memory::Snapshot;
use proofline::setup::{Entropy, generate};
use proofline::{CircuitShape, PARAMS_FILE, unwatched};

use peer::{Peer, Turn, median};
use table::Table;

/// The policies, the one that must win first.
pub const POLICIES: [&str; 3] = ["recycle", "bounded_free", "unbounded_free"];

/// What proofs ask of the kernel's memory, under the three policies of dead slots
#[derive(Parser)]
pub struct Arguments {
    /// The circuit; ten blocks are the fewest above 2^18 constraints
    #[arg(long, default_value = "sha256:10")]
    circuit: String,
    /// Proofs that are counted, with each policy
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    proofs: u32,
    /// Turns that they are made in
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Proofs before the first turn, with each policy
    #[arg(long, default_value_t = 3)]
    warm_up: u32,
    /// Proofs over which resident memory must not grow; 0 leaves the row out
    #[arg(long, default_value_t = 200)]
    slope: u32,
    /// Seconds before each turn and after the last in which the machine's own shootdowns are counted
    #[arg(long, default_value_t = 5)]
    idle: u32,
    /// Where keys are kept between runs
    #[arg(long, default_value = "target/bench-keys")]
    keys: PathBuf,
    /// Proves with this policy what standard input says: how the other runs of this program work
    #[arg(long, hide = true)]
    serve: Option<String>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(policy) = &arguments.serve {
        serve::serve(policy, &arguments.circuit, &arguments.keys)?;
        return Ok(ExitCode::SUCCESS);
    }
    make_key(&arguments.circuit, &arguments.keys)?;
    let mut table = Table::default();
    let idle = turns(&arguments, &mut table)?;
    system_calls::row(&arguments, &mut table)?;
    if arguments.slope > 0 {
        slope(&arguments, &mut table)?;
    }
    group::rows(&arguments, &mut table)?;
    if let Some(rate) = idle.filter(|rate| *rate > BUSY) {
        println!(
            "note: without us the machine has {rate:.1} shootdowns a second: it does something else, and the rows of proofs a \
             second and of shootdowns say little"
        );
    }
    Ok(table.verdicts.end())
}

/// The folder of a circuit's key.
pub fn folder(circuit: &str, keys: &Path) -> PathBuf {
    keys.join(circuit.replace(':', "-"))
}

fn make_key(circuit: &str, keys: &Path) -> Result<(), Box<dyn Error>> {
    let folder = folder(circuit, keys);
    if !folder.join(PARAMS_FILE).exists() {
        eprintln!("making a key for {circuit}");
        let shape = CircuitShape::from_builtin(circuit)?;
        generate(&shape, &Entropy::Seed("bench"), &unwatched)?.write(&folder)?;
    }
    Ok(())
}

/// Shootdowns a second without us above which the machine is not alone; a shell that is polled has one to three.
const BUSY: f64 = 5.0;

/// The three policies in turns. What the machine has of shootdowns without us, a second.
fn turns(arguments: &Arguments, table: &mut Table) -> Result<Option<f64>, Box<dyn Error>> {
    let mut peers = Vec::new();
    for policy in POLICIES {
        let mut peer = Peer::start(arguments, policy)?;
        peer.prove(arguments.warm_up)?;
        peers.push(peer);
    }
    let each = arguments.proofs.div_ceil(arguments.turns);
    let mut made: Vec<Vec<Turn>> = vec![Vec::new(); peers.len()];
    let mut idle = Idle::default();
    for _ in 0..arguments.turns {
        idle.watch(arguments.idle);
        for (peer, made) in peers.iter_mut().zip(&mut made) {
            made.push(peer.prove(each)?);
        }
    }
    idle.watch(arguments.idle);
    let idle = idle.rate();
    let proofs = f64::from(each * arguments.turns);
    println!(
        "{}: {proofs} proofs with each policy after {} to warm up, in {} turns; the machine alone has {} shootdowns a second",
        arguments.circuit,
        arguments.warm_up,
        arguments.turns,
        idle.map_or_else(|| "an unknown number of".to_owned(), |rate| format!("{rate:.2}"))
    );
    table.head(&POLICIES);
    let of = |figure: &dyn Fn(&Turn) -> Option<f64>| -> Vec<Option<f64>> {
        made.iter().map(|turns| turns.iter().map(figure).sum()).collect()
    };
    let seconds: Vec<f64> = made.iter().map(|turns| turns.iter().map(|turn| turn.seconds).sum()).collect();
    let speed: Vec<Option<f64>> = seconds.iter().map(|seconds| Some(proofs / seconds)).collect();
    let slower = speed[1..].iter().flatten().copied().fold(0.0, f64::max);
    let ratio = proofs / seconds[0] / slower;
    table.row("proofs a second", &speed, &format!("at least the others'; ratio {ratio:.3}"), Some(ratio >= 1.0));
    let faults: Vec<Option<f64>> = made
        .iter()
        .map(|turns| {
            median(turns.iter().flat_map(|turn| turn.faults.iter().copied()).collect()).map(|count| count as f64)
        })
        .collect();
    table.row("page faults a proof, median", &faults, "at most 50", faults[0].map(|count| count <= 50.0));
    let major = of(&|turn| turn.major.map(|count| count as f64));
    table.row("of them waiting for the disk, in all", &major, "", None);
    let shootdowns = of(&|turn| turn.shootdowns.map(|count| count as f64));
    let bound = shootdowns[2].zip(idle).map(|(unbounded, rate)| 0.01 * unbounded + rate * seconds[0]);
    let wanted = bound.map_or_else(
        || "cannot be counted here".to_owned(),
        |bound| format!("at most {bound:.1}: 1 % of unbounded_free's and the machine's own"),
    );
    let met = shootdowns[0].zip(bound).map(|(count, bound)| count <= bound);
    table.row("TLB shootdowns, whole machine, in all", &shootdowns, &wanted, met);
    let maps = of(&|turn| Some((turn.maps + turn.unmaps + turn.advices) as f64));
    table.row("mmap, munmap, madvise of arenas, in all", &maps, "0", maps[0].map(|count| count == 0.0));
    let last = |figure: &dyn Fn(&Turn) -> Option<u64>| -> Vec<Option<f64>> {
        made.iter().map(|turns| Some(figure(turns.last()?)? as f64 / f64::from(1 << 20))).collect()
    };
    let peak = last(&|turn| turn.peak);
    let plan = peers[0].plan_bytes as f64 / f64::from(1 << 20);
    let most = plan * 1.02 + 64.0;
    let wanted = format!("at most 2 % and 64 MiB from the plan's {plan:.0} MiB");
    let near = |peak: f64| peak <= most && peak >= plan * 0.98 - 64.0;
    table.row("peak resident memory, MiB", &peak, &wanted, peak[0].map(near));
    table.row("on transparent 2 MiB pages, MiB", &last(&|turn| turn.large), "", None);
    peers.into_iter().try_for_each(Peer::end)?;
    Ok(idle)
}

/// Shootdowns while nobody proves: watched before each turn and after the last, for what else runs comes and goes.
#[derive(Default)]
struct Idle {
    seconds: f64,
    shootdowns: u64,
    /// The counter could not be read.
    blind: bool,
}

impl Idle {
    fn watch(&mut self, seconds: u32) {
        let (before, clock) = (Snapshot::now(), Instant::now());
        std::thread::sleep(Duration::from_secs(seconds.into()));
        match Snapshot::now().since(&before).shootdowns {
            Some(count) => self.shootdowns += count,
            None => self.blind = true,
        }
        self.seconds += clock.elapsed().as_secs_f64();
    }

    /// How many a second.
    fn rate(&self) -> Option<f64> {
        (!self.blind && self.seconds > 0.0).then(|| self.shootdowns as f64 / self.seconds)
    }
}

/// Resident memory over many proofs: a line through what was resident after each.
fn slope(arguments: &Arguments, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let mut peer = Peer::start(arguments, POLICIES[0])?;
    peer.prove(arguments.warm_up)?;
    let turn = peer.prove(arguments.slope)?;
    peer.end()?;
    let points: Vec<(f64, f64)> =
        turn.resident.iter().enumerate().map(|(at, bytes)| (at as f64, *bytes as f64 / f64::from(1 << 20))).collect();
    let grown = least_squares(&points) * f64::from(arguments.slope);
    let wanted = format!("over {} proofs at most {MOST_GROWN} MiB", arguments.slope);
    let what = "growth of resident memory, MiB";
    table.row(what, &[Some(grown), None, None], &wanted, Some(grown <= MOST_GROWN));
    Ok(())
}

/// Resident memory is counted in pages, and by each thread for itself: this is noise.
const MOST_GROWN: f64 = 2.0;

/// The slope of the line that is nearest to the points.
fn least_squares(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.0 - x) * (point.1 - y), below + (point.0 - x) * (point.0 - x))
    });
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_found() {
        let points: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 3.0 * f64::from(x) + 7.0)).collect();
        assert!((least_squares(&points) - 3.0).abs() < 1e-9);
        assert!(least_squares(&[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]).abs() < 1e-9);
        assert_eq!(least_squares(&[]), 0.0);
    }
}
