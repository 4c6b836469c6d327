//! Numbers of files and of the command line: what cannot be is refused with its place, its value, and what is allowed.

mod common;
#[path = "common/scratch.rs"]
mod scratch;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Answer, proofline};
use scratch::scratch;

const PHASE12: &str = "graphs/study/cuzk-phase12.ron";

/// The command, which must end with this code and say each of `parts` in the line that begins with `error: `.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) -> Answer {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(code), "{arguments:?}\n{}{}", answer.out, answer.error);
    let line = answer.error.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    for part in parts {
        assert!(line.contains(part), "{arguments:?}: `{part}` is not in: {}", answer.error);
    }
    answer
}

const COSTS: &str = "\
Costs(
    version: 1,
    constraints: 1000,
    calibration: (source: \"s\", sku: \"laptop\", median_error: 0.01, worst_error: 0.02, rows: 3),
    host: (smt_gain: 0.25, boost_loss: 0.1, dram_efficiency: 0.85, pcie_bytes_per_s: 5e10, shootdown_s_per_gib: 0.01),
    retained: (process_bytes: 1e9, job_bytes: 2e9, sampled_every_s: 1.0),
    stages: {
        \"synthesize\": (spread: 0.1, per_job: [1.0, 2.0], work: [
            (name: \"witness\", threads: 1, core_s: 25.0, dram_bytes: 4e10, stall: 0.3),
            (name: \"matrices\", after: [\"witness\"], core_s: 77.0, output_part: 0.5),
        ]),
        \"gpu_prove\": (), \"b_g2_msm\": (), \"assemble\": (), \"dealloc\": (),
    },
)
";

#[test]
fn numbers_of_a_cost_model() {
    let table = [
        ("smt_gain: 0.25", "smt_gain: -1.0", "5:22", "`host.smt_gain`: -1", "0 to 1"),
        ("smt_gain: 0.25", "smt_gain: NaN", "5:22", "`host.smt_gain`: NaN", "0 to 1"),
        ("boost_loss: 0.1", "boost_loss: inf", "5:40", "`host.boost_loss`: inf", "0 to 100"),
        ("dram_efficiency: 0.85", "dram_efficiency: 0.0", "5:62", "`host.dram_efficiency`: 0 ", "0.01 to 1"),
        ("pcie_bytes_per_s: 5e10", "pcie_bytes_per_s: 0.0", ":5:", "`host.pcie_bytes_per_s`: 0 ", "1e3 to 1e15"),
        ("shootdown_s_per_gib: 0.01", "shootdown_s_per_gib: 1e300", ":5:", "`host.shootdown_s_per_gib`", "0 to 1e9"),
        ("process_bytes: 1e9", "process_bytes: -1.0", "6:31", "`retained.process_bytes`: -1", "0 to 1e18"),
        ("job_bytes: 2e9", "job_bytes: 1e19", ":6:", "`retained.job_bytes`: 1", "0 to 1e18"),
        ("sampled_every_s: 1.0", "sampled_every_s: -0.5", ":6:", "`retained.sampled_every_s`: -0.5", "0 to 1e9"),
        ("spread: 0.1", "spread: 1.0", "8:32", "`synthesize.spread`: 1 ", "0 to 0.99"),
        ("[1.0, 2.0]", "[1.0, 0.0]", "8:52", "`synthesize.per_job`: 0 ", "1e-6 to 1e6"),
        ("core_s: 25.0", "core_s: -25.0", ":9:", "`synthesize.witness.core_s`: -25", "0 to 1e9"),
        ("core_s: 77.0", "core_s: inf", ":10:", "`synthesize.matrices.core_s`: inf", "0 to 1e9"),
        ("stall: 0.3", "stall: 1.5", ":9:", "`synthesize.witness.stall`: 1.5", "0 to 1"),
        ("dram_bytes: 4e10", "dram_bytes: -4e10", ":9:", "`synthesize.witness.dram_bytes`: -4", "0 to 1e18"),
        ("threads: 1,", "threads: 65537,", ":9:", "`synthesize.witness.threads`: 65537", "1 to 65536"),
        ("output_part: 0.5", "output_part: 2.0", ":10:", "`synthesize.matrices.output_part`: 2 ", "0 to 1"),
        ("after: [\"witness\"]", "after: [\"witnes\"]", ":10:", "it waits for `witnes`", "no other piece"),
        ("name: \"matrices\"", "name: \"witness\"", ":9:", "two pieces are called `witness`", "a name of its own"),
        ("constraints: 1000", "constraints: 99999999999999", "3:18", "`constraints`: 99999999999999", "1099511627776"),
        ("constraints: 1000", "constraints: -1", ":3:", "constraints", ""),
        ("median_error: 0.01", "median_error: NaN", ":4:", "`calibration.median_error`: NaN", "0 to 1e6"),
        ("rows: 3", "rows: 0", ":4:", "`calibration.rows`: 0 ", "1 to 65536"),
        ("sku: \"laptop\"", "sku: \"\"", ":4:", "`calibration.sku`: an empty name", "SKU"),
        ("version: 1", "version: 2", "2:14", "version 2 of the format is not known", "reads version 1"),
        ("core_s: 25.0", "core_s: \"x\"", ":9:", "core_s", ""),
        ("core_s: 25.0", "cores: 25.0", ":9:", "cores", ""),
        (
            "\"b_g2_msm\": (),",
            "\"b_g2_msm\": (), \"synthesize\": (),",
            "12:42",
            "`synthesize` is there twice",
            "-bad.ron:8:9;",
        ),
    ];
    let good = scratch("numbers-good.ron", COSTS);
    let answer = proofline(&["sim", PHASE12, "--costs", &good, "--jobs", "2", "--concurrency", "2"]);
    assert_eq!(answer.code, Some(0), "{}", answer.error);
    for (old, new, place, found, allowed) in table {
        assert!(COSTS.contains(old), "{old}");
        let file = scratch("numbers-bad.ron", &COSTS.replacen(old, new, 1));
        let place =
            if place.starts_with(':') { format!("numbers-bad.ron{place}") } else { format!("numbers-bad.ron:{place}") };
        for command in [&["sim", PHASE12][..], &["sweep", PHASE12, "--vary", "workers=1,2"], &["tune", PHASE12]] {
            refused(&[command, &["--costs", &file]].concat(), 3, &[&place, found, allowed]);
        }
    }
}

const FIT: &str = "\
Fit(
    version: 1,
    source: \"nobody\",
    sku: \"tr-pro-7995wx-rtx5070ti\",
    start: \"start.ron\",
    seeds: 1,
    free: [
        Free(path: \"host.boost_loss\", from: 0.3, to: 0.6),
    ],
    rows: [
        Row(name: \"one\", graph: \"cuzk-phase11.ron\", jobs: 2, concurrency: 2, seconds_per_proof: 100.0),
        Row(name: \"two\", graph: \"cuzk-phase11.ron\", jobs: 3, concurrency: 2, seconds_per_proof: 80.0, peak_rss_gib: 300.0),
    ],
)
";

/// A folder with all that a fit of cuzk needs, a test's own.
fn folder(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("skus")).expect("a folder");
    for file in ["catalogue.ron", "start.ron", "cuzk-phase11.ron"] {
        fs::copy(format!("graphs/study/{file}"), folder.join(file)).expect("a copy");
    }
    let sku = "tr-pro-7995wx-rtx5070ti.ron";
    fs::copy(format!("graphs/skus/{sku}"), folder.join("skus").join(sku)).expect("a copy");
    folder.display().to_string()
}

#[test]
fn numbers_of_a_calibration_table() {
    let folder = folder("fits-of-tables");
    let write = |name: &str, text: &str| {
        let file = format!("{folder}/{name}.ron");
        fs::write(&file, text).expect("a scratch file can be written");
        file
    };
    let second = "jobs: 3, concurrency: 2, seconds_per_proof: 80.0";
    for (old, new, code, parts) in [
        ("jobs: 2,", "jobs: 0,", 3, &["bad.ron:11:", "`jobs of the row \"one\"`: 0 ", "1 to 65536"][..]),
        ("jobs: 2,", "jobs: 65537,", 3, &["bad.ron:11:", "65537", "1 to 65536"]),
        (
            "concurrency: 2, seconds_per_proof: 100.0",
            "concurrency: 0, seconds_per_proof: 100.0",
            3,
            &["concurrency", "0 "],
        ),
        (
            "seconds_per_proof: 100.0",
            "seconds_per_proof: 0.0",
            3,
            &["bad.ron:11:", "`seconds_per_proof of the row \"one\"`: 0 "],
        ),
        ("seconds_per_proof: 100.0", "seconds_per_proof: NaN", 3, &["NaN", "1e-9 to 1e9"]),
        ("seconds_per_proof: 100.0", "seconds_per_proof: -3.0", 3, &["-3", "1e-9 to 1e9"]),
        (", seconds_per_proof: 100.0", "", 3, &["bad.ron:11:", "states nothing that was measured"]),
        ("peak_rss_gib: 300.0", "peak_rss_gib: inf", 3, &["bad.ron:12:", "peak_rss_gib", "inf", "0.001 to 1e6"]),
        ("from: 0.3, to: 0.6", "from: 0.6, to: 0.3", 3, &["bad.ron:8:", "0.6 to 0.3", "`from` below `to`"]),
        ("from: 0.3, to: 0.6", "from: 0.3, to: NaN", 3, &["0.3 to NaN"]),
        ("from: 0.3, to: 0.6", "from: 0.3, to: 600.0", 3, &["bad.ron:8:", "host.boost_loss", "0.3 to 600", "0 to 100"]),
        (
            "from: 0.3, to: 0.6",
            "from: 0.4, to: 0.6",
            3,
            &["bad.ron:8:", "host.boost_loss", "`0.37`", "its range is 0.4 to 0.6"],
        ),
        ("host.boost_loss", "host.boost", 3, &["bad.ron:8:20", "host.boost", "boost_loss"]),
        // What a fit names is there, in the graph that the row is of and in the costs.
        (
            "host.boost_loss",
            "nope.witness.core_s",
            3,
            &["bad.ron:8:20", "there is no stage `nope.witness.core_s`", "synthesize"],
        ),
        ("host.boost_loss", "synthesize.nope.core_s", 3, &["bad.ron:8:20", "there is no piece", "witness"]),
        (
            "host.boost_loss\", from",
            "host.boost_loss host.smt_gain host.boost_loss\", from",
            3,
            &["bad.ron:8:20", "`host.boost_loss`: it may move already"],
        ),
        (
            "jobs: 2,",
            "set: [\"workers=3\", \"stages.synthesize.workers=4\"], jobs: 2,",
            3,
            &["bad.ron:11:72", "`stages.synthesize.workers` is given twice"],
        ),
        (
            "Free(path: \"host.boost_loss\", from: 0.3, to: 0.6)",
            "Free(path: \"gpu_prove@cuzk-phase8.split.core_s\", from: 0.0, to: 9.0)",
            3,
            &[
                "bad.ron:8:20",
                "no row runs `gpu_prove@cuzk-phase8`",
                "the rows run `collect`, `dealloc@cuzk-phase11`, `gpu_prove`",
            ],
        ),
        (
            "seconds_per_proof: 100.0",
            "busy: Busy(stage: \"spmv\", seconds_per_proof: 9.0)",
            3,
            &[
                "bad.ron:11:96",
                "`busy.stage of the row \"one\"`: there is no stage of cuzk-phase11.ron `spmv`",
                "`gpu_prove`",
            ],
        ),
        (
            "seconds_per_proof: 100.0",
            "busy: Busy(stage: \"gpu_prove\", seconds_per_proof: 9.0, without: \"trimm\")",
            3,
            &["bad.ron:11:", "there is no piece of `gpu_prove` `trimm`", "`trim`"],
        ),
        (
            "jobs: 2,",
            "set: [\"workers=3\", \"stages.nope.workers=1\"], jobs: 2,",
            3,
            &["bad.ron:11:72", "`set of the row \"one\"`: there is no stage `nope`", "synthesize"],
        ),
        (
            "sku: \"tr-pro-7995wx-rtx5070ti\"",
            "sku: \"no such\"",
            3,
            &[
                "bad.ron:11:33",
                "its SKU `tr-pro-7995wx-rtx5070ti`, and the fit's `sku` is `no such`",
                "name one SKU in both",
            ],
        ),
        ("seeds: 1", "seeds: 1000000", 3, &["bad.ron:6:12", "`seeds`: 1000000"]),
        ("version: 1", "version: 7", 3, &["bad.ron:2:14", "version 7"]),
        (
            second,
            "jobs: 2, concurrency: 2, seconds_per_proof: 300.0",
            3,
            &["bad.ron:12:", "same run as the row \"one\""],
        ),
        ("start.ron", "missing.ron", 6, &["missing.ron"]),
    ] {
        assert!(FIT.contains(old), "{old}");
        let file = write("bad", &FIT.replacen(old, new, 1));
        refused(&["calibrate", &file], code, parts);
    }
    let more = "Free(path: \"host.smt_gain\", from: 0.05, to: 0.4),\n        Free(path: \"retained.job_bytes\", from: 0.0, to: 4e9),\n        \
                Free(path: \"host.shootdown_s_per_gib\", from: 0.0, to: 0.05),\n        Free(path: \"host.boost_loss\"";
    let file = write("bad", &FIT.replacen("Free(path: \"host.boost_loss\"", more, 1));
    refused(&["calibrate", &file], 4, &["4 numbers may move and 3 were measured"]);
}

/// A model that says little is written with its doubts, and one that says nothing is not written.
#[test]
fn models_that_say_little_say_so() {
    let folder = folder("fits-with-doubts");
    let run = |name: &str, text: &str| {
        let (file, out) = (format!("{folder}/{name}.ron"), format!("{folder}/{name}-costs.ron"));
        fs::write(&file, text).expect("a scratch file can be written");
        drop(fs::remove_file(&out));
        (proofline(&["calibrate", &file, "--out", &out]), fs::read_to_string(out).unwrap_or_default())
    };
    let second = FIT.lines().find(|line| line.contains("\"two\"")).expect("there is a second row");
    let one_row = FIT.replace(second, "").replace("100.0", "52.0");
    let (answer, costs) = run("one-row", &one_row);
    assert_eq!(answer.code, Some(0), "{}", answer.error);
    assert!(answer.error.contains("warning: one row was measured"), "{}", answer.error);
    assert!(costs.starts_with("// Warning: one row was measured"), "{costs}");

    let narrow = one_row.replace("from: 0.3, to: 0.6", "from: 0.3, to: 0.38").replace("52.0", "70.0");
    let (answer, _) = run("at-its-end", &narrow);
    assert!(answer.error.contains("`host.boost_loss` stands at 0.38, the most that it may be"), "{}", answer.error);

    let far = FIT.replace("100.0", "1.0").replace("80.0", "5000.0");
    let (answer, costs) = run("far", &far);
    assert_eq!((answer.code, costs.as_str()), (Some(4), ""), "{}{}", answer.out, answer.error);
    assert!(answer.error.contains("more than 50%: it is not written"), "{}", answer.error);
}

const TRACE: &str = "[
{\"ph\":\"M\",\"name\":\"graph\",\"pid\":0,\"args\":{\"graph\":\"cuzk-phase12\",\"digest\":\"DIGEST\"}},
{\"ph\":\"b\",\"cat\":\"job\",\"name\":\"job\",\"id\":0,\"pid\":0,\"ts\":0.0,\"args\":{\"partitions\":1}},
{\"ph\":\"X\",\"name\":\"synthesize\",\"pid\":0,\"tid\":0,\"ts\":5.0,\"dur\":4000000.0,\"args\":{\"job\":0,\"partition\":0,\"waited_us\":3.0,\"ending\":\"succeeded\"}},
{\"ph\":\"X\",\"name\":\"gpu_prove\",\"pid\":1,\"tid\":0,\"ts\":4000010.0,\"dur\":2000000.0,\"args\":{\"job\":0,\"partition\":0,\"waited_us\":3.0,\"ending\":\"succeeded\"}},
{\"ph\":\"e\",\"cat\":\"job\",\"name\":\"job\",\"id\":0,\"pid\":0,\"ts\":6000020.0,\"args\":{\"succeeded\":true}}
]
";

#[test]
fn numbers_of_a_trace() {
    let study =
        proofline::study::Study::with_costs(Path::new(PHASE12), proofline::study::no_costs()).expect("it is lawful");
    let trace = TRACE.replace("DIGEST", &study.plan().digest);
    let good = scratch("good-trace.json", &trace);
    let answer = proofline(&["calibrate", "--trace", &good, "--graph", PHASE12]);
    assert_eq!(answer.code, Some(0), "{}", answer.error);
    assert!(answer.error.contains("warning: one load was measured"), "{}", answer.error);
    for (old, new, code, parts) in [
        ("\"dur\":4000000.0", "\"dur\":-4.0", 3, &["bad-trace.json:4: record 3", "`dur`: -4", "0 to 1e15"][..]),
        ("\"dur\":4000000.0", "\"dur\":1e300", 3, &["record 3", "`dur`"]),
        ("\"dur\":4000000.0", "\"dur\":1e999", 3, &["bad-trace.json:4", "number out of range"]),
        ("\"ts\":5.0", "\"ts\":-5.0", 3, &["record 3", "`ts`: -5"]),
        ("\"waited_us\":3.0", "\"waited_us\":-1", 3, &["record 3", "`waited_us`: -1"]),
        ("\"tid\":0", "\"tid\":70000", 3, &["record 3", "`tid`: 70000"]),
        ("\"ending\":\"succeeded\"", "\"ending\":\"maybe\"", 3, &["record 3", "`ending`: \"maybe\""]),
        ("\"partitions\":1", "\"partitions\":0", 3, &["record 2", "`partitions`: 0 ", "1 to 65536"]),
        ("\"ts\":6000020.0", "\"ts\":-1.0", 3, &["bad-trace.json:6: record 5", "`ts`: -1"]),
        ("\"id\":0,\"pid\":0,\"ts\":6000020.0", "\"id\":7,\"pid\":0,\"ts\":6000020.0", 3, &["record 5", "job 7 ends"]),
        ("\"job\":0", "\"job\":9", 3, &["bad-trace.json:4: record 3", "job 9, which was never submitted"]),
        ("\"ts\":6000020.0", "\"ts\":0.0", 4, &["lasts 0 s"]),
        ("\"name\":\"synthesize\"", "\"name\":\"spmv\"", 4, &["the trace is of graph `cuzk-phase12`"]),
    ] {
        assert!(trace.contains(old), "{old}");
        let file = scratch("bad-trace.json", &trace.replacen(old, new, 1));
        refused(&["calibrate", "--trace", &file, "--graph", PHASE12], code, parts);
    }
}

#[test]
fn numbers_of_the_command_line() {
    for number in ["0", "nan", "-1", "inf", "1e300", "", "lots"] {
        for limit in ["--ram", "--vram"] {
            let answer = refused(&["tune", PHASE12, limit, number], 2, &[]);
            assert!(answer.error.contains("0.001 to 1e6"), "{limit} {number}: {}", answer.error);
        }
    }
    for command in ["sim", "tune", "sweep"] {
        for (set, parts) in [
            ("stages.synthesize.workers=65537", &["`65537`", "1 to 65536"][..]),
            ("stages.synthesize.workers=0", &["`0`", "1 to 65536"]),
            ("stages.synthesize.workers=1.5", &["`1.5`", "1 to 65536"]),
            ("edges.synthesize.gpu_prove.capacity=99999", &["`99999`", "1 to 65536"]),
            ("policy=x", &["there is no policy `x`", "oldest_first"]),
            ("policy=priority(inf)", &["`priority(inf)`", "priority(SECONDS)"]),
            ("policy=replay(99:0.0)", &["`replay(99:0.0)`"]),
            ("costs.host.smt_gain=nan", &["`costs.host.smt_gain` cannot be `nan`", "0 to 1"]),
            ("costs.host.dram_efficiency=0", &["cannot be `0`", "0.01 to 1"]),
            ("costs.synthesize.witness.core_s=-1", &["cannot be `-1`", "0 to 1e9"]),
            ("costs.synthesize.witness.cores=1", &["costs.synthesize.witness.cores", "core_s"]),
        ] {
            let vary: &[&str] = if command == "sweep" { &["--vary", "workers=1,2"] } else { &[] };
            refused(&[&[command, PHASE12, "--set", set][..], vary].concat(), 2, parts);
        }
    }
    for command in ["tune", "sweep"] {
        for (vary, parts) in [
            ("policy=oldest_first,x", &["there is no policy `x`"][..]),
            ("workers=0..4", &["`0`", "1 to 65536"]),
            ("workers=65536,65537", &["`65537`", "1 to 65536"]),
            ("stages.nope.workers=1,2", &["there is no stage `nope`"]),
            ("workers=4..1", &["a range goes up"]),
        ] {
            refused(&[command, PHASE12, "--vary", vary], 2, parts);
        }
    }
    let answer = refused(&["calibrate", "--trace", "x", "--graph", "y", "--constraints", "99999999999999"], 2, &[]);
    assert!(answer.error.contains("1099511627776"), "{}", answer.error);
    // Each number is one that it may be; together they make no sense.
    let tiny = scratch("tiny-circuit.ron", &COSTS.replace("constraints: 1000", "constraints: 1"));
    let answer = refused(&["sim", PHASE12, "--costs", &tiny], 4, &[]);
    for part in ["`synthesize`", "piece `witness`", "core_s: 25;", "takes 1e9 s at most"] {
        assert!(answer.error.contains(part), "{part}: {}", answer.error);
    }
    let long = scratch(
        "long-piece.ron",
        &COSTS.replace("core_s: 25.0", "core_s: 1e9").replace("constraints: 1000", "constraints: 0"),
    );
    let answer = refused(&["sim", PHASE12, "--costs", &long], 4, &[]);
    assert!(answer.error.contains("core_s: 1000000000;"), "{}", answer.error);
    refused(
        &["sim", PHASE12, "--jobs", "65536", "--partitions", "65536"],
        2,
        &["65536 jobs of 65536 partitions", "50000000"],
    );
    for command in [&["sim", "nope.ron"][..], &["tune", "nope.ron"], &["sweep", "nope.ron", "--vary", "workers=1"]] {
        refused(command, 6, &["nope.ron: cannot be read"]);
    }
    refused(&["tune", "graphs/host.ron"], 2, &["there are no costs for graphs/host.ron"]);
}

/// What never ends, or never begins, is not read.
#[test]
fn inputs_that_are_no_files_are_refused_at_once() {
    let fifo = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numbers-fifo");
    drop(fs::remove_file(&fifo));
    assert!(Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()));
    // A hole takes no room on the disk.
    let huge = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numbers-huge");
    let file = fs::File::create(&huge).expect("a scratch file");
    file.set_len(3 << 30).expect("a hole");
    let (fifo, huge) = (fifo.display().to_string(), huge.display().to_string());
    for (input, why) in [
        ("/dev/zero", "a pipe, a device or a socket"),
        (fifo.as_str(), "a pipe, a device or a socket"),
        ("graphs", "a folder"),
        (huge.as_str(), "more than the"),
        ("target-that-is-not-there", ""),
    ] {
        let code = if why == "more than the" { 3 } else { 6 };
        refused(&["sim", PHASE12, "--costs", input], code, &[input, why]);
        refused(&["calibrate", input], code, &[input, why]);
        refused(&["calibrate", "--trace", input, "--graph", PHASE12], code, &[input, why]);
    }
    drop(fs::remove_file(huge));
}
