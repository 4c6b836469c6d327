//! How fast the simulator is: firings a second on one core. `cargo bench -p pipeline-runtime --bench sim`.

use std::hint::black_box;

use pipeline_runtime::mock::{Mock, example_plan, mock_all};
use pipeline_runtime::plan::Plan;
use pipeline_runtime::policy::OldestFirst;
use pipeline_runtime::sim::{Costs, Load, MachineSpec, Setup, StageCost, Work, simulate};
use pipeline_runtime::stage::Sizes;

fn main() {
    let plan = example_plan();
    firings("contention off, 4 stages and dealloc", &plan, false, 100_000);
    firings("contention on, 4 stages and dealloc", &plan, true, 20_000);
    let tests = 200;
    let before = processor_s();
    for seed in 0..tests {
        let mocked = mock_all(&plan).with(Mock::stage("left").core_s(2.0).threads(8)).jobs(20, 15).seed(seed);
        black_box(mocked.run(&mut OldestFirst).expect("the plan runs"));
    }
    println!("a policy test of 20 jobs: {:.3} ms", (processor_s() - before) * 1e3 / tests as f64);
}

fn firings(name: &str, plan: &Plan, contention: bool, jobs: u32) {
    let work = |core_s| StageCost {
        work: vec![Work { core_s, threads: 1, ..Work::default() }],
        spread: 0.1,
        ..StageCost::default()
    };
    let stages = ["source", "left", "right", "sink"];
    let stages = stages.iter().zip([1.0, 2.0, 3.0, 0.5]).map(|(name, core_s)| ((*name).to_owned(), work(core_s)));
    let costs = Costs { version: 1, stages: stages.collect(), ..Costs::default() };
    let machine = MachineSpec {
        ccds: vec![pipeline_runtime::sim::CcdSpec { cores: 16, l3_bytes: 32e6 }],
        threads_per_core: 2,
        dram_bytes_per_s: 100e9,
        ram_bytes: 64 << 30,
        devices: Vec::new(),
    };
    let sizes = Sizes { constraints: 1, ..Sizes::default() };
    let load = Load { jobs, concurrency: 15, partitions: 10, sizes, priorities: Vec::new() };
    let setup = Setup {
        plan,
        costs: &costs,
        machine: &machine,
        token_bytes: &[],
        resident_bytes: 0.0,
        load: &load,
        contention,
        seed: 0,
        fate: None,
        observer: None,
    };
    let before = processor_s();
    let report = simulate(&setup, &mut OldestFirst).expect("the plan runs");
    let rate = report.firings as f64 / (processor_s() - before);
    println!("{name}: {:.2} million firings a second", rate / 1e6);
}

/// Processor time of this thread so far, in seconds: what others do on the machine does not count.
fn processor_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts processor time");
    text.split(' ').next().and_then(|word| word.parse::<f64>().ok()).expect("nanoseconds come first") * 1e-9
}
