use std::collections::BTreeMap;

use super::*;
use crate::key::TokenKey;
use crate::plan::Plan;
use crate::policy::{Logged, OldestFirst, Policy, RandomLegal, Replay};
use crate::stage::Sizes;
use crate::testing::{chain, diamond};
use crate::trace::TraceWriter;

fn machine() -> MachineSpec {
    MachineSpec {
        ccds: vec![CcdSpec { cores: 8, l3_bytes: 32e6 }; 2],
        threads_per_core: 2,
        dram_bytes_per_s: 100e9,
        ram_bytes: 1 << 36,
        devices: Vec::new(),
    }
}

fn seconds(core_s: f64) -> StageCost {
    StageCost { work: vec![Work { core_s, threads: 1, ..Work::default() }], ..StageCost::default() }
}

fn costs(stages: &[(&str, StageCost)]) -> Costs {
    let stages: BTreeMap<_, _> = stages.iter().map(|(name, cost)| ((*name).to_owned(), cost.clone())).collect();
    Costs { version: 1, stages, ..Costs::default() }
}

fn load(jobs: u32, concurrency: u32, partitions: u32) -> Load {
    let sizes = Sizes { constraints: 1, aux: 10, ..Sizes::default() };
    Load { jobs, concurrency, partitions, sizes, priorities: Vec::new() }
}

struct Case {
    plan: Plan,
    costs: Costs,
    load: Load,
    contention: bool,
}

impl Case {
    fn run(&self, policy: &mut dyn Policy, fate: Option<&dyn Fn(usize, TokenKey) -> Fate>) -> (Report, String) {
        let trace = TraceWriter::new(&self.plan, Vec::new()).unwrap();
        let setup = Setup {
            plan: &self.plan,
            costs: &self.costs,
            machine: &machine(),
            token_bytes: &[10.0, 5.0],
            resident_bytes: 100.0,
            load: &self.load,
            contention: self.contention,
            seed: 1,
            fate,
            observer: Some(&trace),
        };
        let report = simulate(&setup, policy).unwrap();
        (report, String::from_utf8(trace.finish().unwrap()).unwrap())
    }
}

fn diamond_case(contention: bool) -> Case {
    let stages = [("source", seconds(1.0)), ("left", seconds(2.0)), ("right", seconds(4.0)), ("sink", seconds(1.0))];
    Case { plan: diamond(2, 1, 2), costs: costs(&stages), load: load(3, 2, 2), contention }
}

#[test]
fn one_token_takes_the_longest_way() {
    for contention in [false, true] {
        let case = Case { load: load(1, 1, 1), ..diamond_case(contention) };
        let (report, _) = case.run(&mut OldestFirst, None);
        assert!((report.seconds - 6.0).abs() < 1e-6, "{report:?}");
        assert_eq!(report.firings, 7, "four stages, and the slots of source and left and right");
        assert_eq!(report.jobs, 1);
    }
}

#[test]
fn the_slowest_stage_sets_the_pace() {
    let case = Case { load: load(5, 5, 4), ..diamond_case(true) };
    let (report, _) = case.run(&mut OldestFirst, None);
    assert!((report.seconds - (1.0 + 20.0 * 4.0 + 1.0)).abs() < 1e-6, "{}", report.seconds);
    let right = &report.stages[2];
    assert!((right.busy_s - 80.0).abs() < 1e-6 && (right.inflation() - 1.0).abs() < 1e-6);
    assert!(report.stages[1].waited_s < report.stages[2].waited_s);
}

#[test]
fn the_same_input_gives_the_same_trace_byte_for_byte() {
    for contention in [false, true] {
        let mut case = diamond_case(contention);
        case.costs.stages.values_mut().for_each(|cost| cost.spread = 0.3);
        let (_, first) = case.run(&mut RandomLegal::new(4), None);
        let (_, second) = case.run(&mut RandomLegal::new(4), None);
        assert_eq!(first, second);
        assert!(first.lines().count() > 30, "{first}");
    }
}

#[test]
fn a_log_replays_a_random_run() {
    let case = Case { load: load(6, 4, 3), ..diamond_case(true) };
    let mut random = Logged::new(RandomLegal::new(9));
    let log = random.log();
    let (_, first) = case.run(&mut random, None);
    let log = log.lock().unwrap().clone();
    let (_, replayed) = case.run(&mut Replay::new(log), None);
    assert_eq!(first, replayed);
}

#[test]
fn memory_is_what_lives_at_once() {
    let case = Case { load: load(1, 1, 1), ..diamond_case(true) };
    let (report, _) = case.run(&mut OldestFirst, None);
    assert_eq!(report.peak_ram_bytes, 115.0, "100 resident, the source's 10 and left's 5");
    let mut case = Case { load: load(8, 8, 1), ..diamond_case(true) };
    case.costs.retained = Retained { process_bytes: 1000.0, job_bytes: 7.0, sampled_every_s: 0.0 };
    let (report, _) = case.run(&mut OldestFirst, None);
    assert!(report.peak_ram_bytes >= 1156.0 && report.peak_ram_bytes <= 1200.0, "{}", report.peak_ram_bytes);
}

#[test]
fn a_failed_firing_is_a_tombstone_and_nothing_leaks() {
    for contention in [false, true] {
        let case = Case { load: load(4, 3, 3), ..diamond_case(contention) };
        let fate = |stage: usize, key: TokenKey| match (stage, key.job.0, key.partition) {
            (1, 1, 1) => Fate::Fails,
            _ => Fate::Succeeds,
        };
        let (report, trace) = case.run(&mut OldestFirst, Some(&fate));
        assert_eq!(report.jobs, 4);
        assert_eq!(trace.matches("\"succeeded\":false").count(), 1);
        assert_eq!(trace.matches("\"ending\":\"failed\"").count(), 1);
    }
}

#[test]
fn a_lock_is_held_by_one_firing_for_all_its_locked_pieces() {
    let mut machine = machine();
    machine.devices = vec![DeviceSpec { vram_bytes: 0 }];
    let mut plan = chain(3, 4, 2, 9);
    plan.stages[1].device = Some(0);
    let piece = |name: &str, after: &[&str], gpu_s, wait_s, lock| Work {
        name: name.into(),
        after: after.iter().map(|name| (*name).to_owned()).collect(),
        gpu_s,
        wait_s,
        lock,
        ..Work::default()
    };
    let gpu =
        vec![piece("a", &[], 1.0, 0.0, true), piece("b", &["a"], 2.0, 0.0, true), piece("c", &["b"], 0.0, 0.5, false)];
    let costs = costs(&[("s1", StageCost { work: gpu, ..StageCost::default() })]);
    let load = load(2, 2, 1);
    let setup = Setup {
        plan: &plan,
        costs: &costs,
        machine: &machine,
        token_bytes: &[],
        resident_bytes: 0.0,
        load: &load,
        contention: true,
        seed: 0,
        fate: None,
        observer: None,
    };
    let report = simulate(&setup, &mut OldestFirst).unwrap();
    assert!((report.seconds - 6.5).abs() < 1e-6, "3 s each under the lock, one after the other: {}", report.seconds);
    assert!((report.lock_utilisation[0] - 6.0 / 6.5).abs() < 1e-6);
}

#[test]
fn costs_that_cannot_be_run_say_why() {
    let error = |work: Vec<Work>| {
        let costs = costs(&[("left", StageCost { work, ..StageCost::default() })]);
        let case = Case { costs, ..diamond_case(true) };
        let setup = Setup {
            plan: &case.plan,
            costs: &case.costs,
            machine: &machine(),
            token_bytes: &[],
            resident_bytes: 0.0,
            load: &case.load,
            contention: true,
            seed: 0,
            fate: None,
            observer: None,
        };
        simulate(&setup, &mut OldestFirst).unwrap_err().to_string()
    };
    let named = |name: &str, after: &str| Work { name: name.into(), after: vec![after.into()], ..Work::default() };
    assert_eq!(
        error(vec![named("a", "b")]),
        "the costs of stage `left` cannot be run: piece `a` waits for `b`, which is no piece of this stage"
    );
    assert_eq!(
        error(vec![named("a", "b"), named("b", "a")]),
        "the costs of stage `left` cannot be run: piece `a` waits for `b`, which waits for it in turn"
    );
    let gpu = Work { gpu_s: 1.0, ..Work::default() };
    assert_eq!(error(vec![gpu]), "stage `left` costs device time, but the graph gives it no device");
    let negative = Work { name: "n".into(), core_s: -1.0, ..Work::default() };
    assert_eq!(error(vec![negative]), "the costs of stage `left`: piece `n` says core_s: -1; write a number from 0");
    // The number is the one that was written, not what came of it.
    let long = Work { name: "n".into(), wait_s: 2e9, core_s: 1.5e9, ..Work::default() };
    assert_eq!(
        error(vec![long]),
        "the costs of stage `left`: piece `n` says wait_s: 2000000000; alone that takes 2000000000 s, and a piece takes \
         1e9 s at most"
    );
}

#[test]
fn memory_can_come_with_a_later_piece() {
    let peak = |part: f64| {
        let piece = |name: &str, after: &[&str], core_s, output_part| {
            let after = after.iter().map(|name| (*name).to_owned()).collect();
            Work { name: name.into(), after, core_s, threads: 1, output_part, ..Work::default() }
        };
        let work = vec![piece("long", &[], 100.0, 0.0), piece("short", &["long"], 1.0, part)];
        let mut case = diamond_case(true);
        case.costs.stages.insert("source".into(), StageCost { work, ..StageCost::default() });
        Case { load: load(2, 2, 1), ..case }.run(&mut OldestFirst, None).0.peak_ram_bytes
    };
    // The second token is on its way while the first and the output of `left` are still there.
    assert_eq!((peak(0.0), peak(0.8)), (100.0 + 10.0 + 5.0 + 10.0, 100.0 + 10.0 + 5.0 + 2.0));
}
