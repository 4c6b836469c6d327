//! The page about cuzk's phase 11: generated, and held to what the simulator says today.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proofline_study::{Conditions, Study, Submitted};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn seconds(graph: &str, settings: &[&str]) -> f64 {
    let mut study = Study::read(&root().join("graphs/study").join(graph), None).expect("the graph is lawful");
    assert_eq!(study.uncalibrated(), None);
    settings.iter().for_each(|setting| study.set(setting).expect("the setting fits"));
    mean(&study, 15)
}

/// No two runs of the real thing take equally long; neither do the simulator's seeds.
fn mean(study: &Study, concurrency: u32) -> f64 {
    const SEEDS: u64 = 8;
    let submitted = Submitted { jobs: 20, concurrency, partitions: None };
    let run = |seed| study.run(submitted, &Conditions { seed, ..Conditions::default() }).expect("it runs");
    (0..SEEDS).map(|seed| run(seed).seconds_per_job()).sum::<f64>() / SEEDS as f64
}

const DEALLOC: &str = "pools.dealloc=1";
const POOL: &str = "stages.gpu_prove.threads=32";

fn page() -> String {
    let nine = seconds("cuzk-phase9.ron", &[]);
    let dealloc = seconds("cuzk-phase9.ron", &[DEALLOC]);
    let pool = seconds("cuzk-phase9.ron", &[DEALLOC, POOL]);
    let permits = seconds("permits.ron", &[]);
    let costs = Study::read(&root().join("graphs/study/cuzk-phase9.ron"), None).expect("it is lawful").costs().clone();
    let calibration = costs.calibration.expect("the costs are calibrated");
    let mut page = format!(
        "# Three interventions, and two that nobody tried\n\n\
         cuzk's phase 11 did three things about overlapping work, one after the other, and measured 20 proofs with 15 in flight\n\
         each time. This page asks the simulator the same, and what else it would have tried. It is written by\n\
         `PROOFLINE_BLESS=1 cargo test -p proofline-study --test question`; the test fails when the simulator changes its mind.\n\n\
         Seconds for each proof on {}. The cost model was fitted to {} measured rows ({}), these among them, and is off by {:.1}%\n\
         in the median and {:.1}% at most. A row that the fit is not shown is predicted with an error of {:.1}% in the median and\n\
         {:.1}% at most: differences of less than that mean nothing here.\n\n\
         ## One after the other\n\n\
         | | measured | simulated |\n|---|---|---|\n",
        calibration.sku,
        calibration.rows,
        calibration.source,
        100.0 * calibration.median_error,
        100.0 * calibration.worst_error,
        100.0 * calibration.left_out_median.expect("each row was predicted by the others"),
        100.0 * calibration.left_out_worst.expect("each row was predicted by the others"),
    );
    let mut row = |text: &str| page.push_str(&format!("{text}\n"));
    row(&format!("| phase 9 | 38.0 | {nine:.1} |"));
    row(&format!("| one firing at a time unmaps memory | 37.9 | {dealloc:.1} |"));
    row(&format!("| … and 32 threads for the multi-scalar multiplication, not 192 | 36.7 | {pool:.1} |"));
    row(&format!("| … and permits for memory phases | 36.8 | {permits:.1} |"));
    page.push_str(
        "\ncuzk's last step was a flag that made products wait while b_g2 ran. The simulator's is what the flag stands for: the\n\
         products are a stage of their own, of which four run at once (`graphs/study/permits.ron`).\n\n\
         ## Each alone\n\nPredictions; nobody measured them.\n\n| | simulated | against phase 9 |\n|---|---|---|\n",
    );
    let alone = [
        ("one firing at a time unmaps memory", dealloc),
        ("32 threads for the multi-scalar multiplication", seconds("cuzk-phase9.ron", &[POOL])),
        (
            "permits for memory phases",
            seconds("permits.ron", &["pools.dealloc=16", "stages.dealloc.workers=16", "stages.gpu_prove.threads=192"]),
        ),
    ];
    for (name, time) in alone {
        let _ = writeln!(page, "| {name} | {time:.1} | {:+.1}% |", 100.0 * (time / nine - 1.0));
    }
    page.push_str(
        "\n## What nobody tried\n\nOn top of phase 11. What the device would take is an estimate, written down in `graphs/study/start.ron`: \
         25.7 GiB of\nmatrices over PCIe for each product, a tenth of a second more for b_g2.\n\n| | simulated | against phase 11 |\n|---|---|---|\n",
    );
    let eleven = seconds("cuzk-phase11.ron", &[]);
    let never_freed = seconds("cuzk-phase11.ron", &["costs.host.shootdown_s_per_gib=0"]);
    let untried = [
        ("buffers that are never freed", never_freed),
        ("the products and b_g2 on the device (`graphs/study/device.ron`)", seconds("device.ron", &[])),
        ("both", seconds("device.ron", &["costs.host.shootdown_s_per_gib=0"])),
    ];
    for (name, time) in untried {
        let _ = writeln!(page, "| {name} | {time:.1} | {:+.1}% |", 100.0 * (time / eleven - 1.0));
    }
    let twelve = Study::read(&root().join("graphs/study/cuzk-phase12.ron"), None).expect("the graph is lawful");
    let step = 100.0 * (mean(&twelve, 20) / eleven - 1.0);
    let _ = write!(
        page,
        "\n## Where it is wrong\n\n\
         From phase 11 (15 in flight) to phase 12 (20) cuzk became {:.1}% slower; here it is {step:+.1}%. Phase 11 comes out a little slow\n\
         and phase 12 a little fast, each within the error above, so the step between them is not to be trusted. The second\n\
         thing that the simulator does not explain is why cuzk's bandwidth flag gained nothing: the stage that stands for it here\n\
         does what the flag was meant to do.\n",
        100.0 * (38.5 / 36.7 - 1.0)
    );
    page
}

#[test]
fn the_page_says_what_the_simulator_says() {
    let file = root().join("docs/interventions.md");
    let page = page();
    if std::env::var_os("PROOFLINE_BLESS").is_some() {
        std::fs::write(&file, &page).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(&file).expect("the page is there");
    assert_eq!(stored, page, "run `PROOFLINE_BLESS=1 cargo test -p proofline-study --test question`");
}

#[test]
fn the_measured_steps_are_within_the_error_of_the_fit() {
    let steps: [(&str, &[&str], f64); 3] = [
        ("cuzk-phase9.ron", &[], 38.0),
        ("cuzk-phase9.ron", &[DEALLOC], 37.9),
        ("cuzk-phase9.ron", &[DEALLOC, POOL], 36.7),
    ];
    for (graph, settings, measured) in steps {
        let off = seconds(graph, settings) / measured - 1.0;
        assert!(off.abs() < 0.08, "{graph} {settings:?}: {off}");
    }
}
