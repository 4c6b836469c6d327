//! How fast the simulator is on a real graph: firings a second on one core. `cargo bench -p proofline-study`.

use std::hint::black_box;
use std::path::Path;

use proofline_study::{Conditions, Study, Submitted};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graphs/study");
    for (graph, contention) in [("cuzk-phase12.ron", true), ("cuzk-phase12.ron", false), ("cuzk-phase11.ron", true)] {
        let study = Study::read(&folder.join(graph), None).expect("the graph is lawful");
        let conditions = Conditions { contention, ..Conditions::default() };
        let run =
            |jobs| study.run(Submitted { jobs, concurrency: 15, partitions: None }, &conditions).expect("it runs");
        black_box(run(100));
        let rates = (0..5).map(|_| {
            let before = processor_s();
            let report = black_box(run(1000));
            report.firings as f64 / (processor_s() - before)
        });
        let best = rates.fold(0.0, f64::max);
        let on = if contention { "on" } else { "off" };
        println!("{graph}, 15 jobs in flight, contention {on}: {:.0} thousand firings a second", best / 1e3);
    }
}

/// Processor time of this thread so far, in seconds: what others do on the machine does not count.
fn processor_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts processor time");
    text.split(' ').next().and_then(|word| word.parse::<f64>().ok()).expect("nanoseconds come first") * 1e-9
}
