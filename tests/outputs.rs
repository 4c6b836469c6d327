//! What the command writes, and what it leaves behind when it fails or is broken off.

mod common;
#[path = "common/scratch.rs"]
mod scratch;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::proofline;
use scratch::scratch;

const R1CS: &str = "tests/data/circom/poseidon_m7.r1cs";
const WTNS: &str = "tests/data/circom/poseidon_m7.wtns";
const PHASE12: &str = "graphs/study/cuzk-phase12.ron";

/// A folder of a test's own, empty.
fn folder(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder");
    folder.display().to_string()
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The command, which must end with this code and say each of `parts`.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let answer = proofline(arguments);
    assert_eq!(answer.code, Some(code), "{arguments:?}\n{}{}", answer.out, answer.error);
    let line = answer.error.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    for part in parts {
        assert!(line.contains(part), "{arguments:?}: `{part}` is not in: {}", answer.error);
    }
}

#[test]
fn nothing_is_written_over_what_is_read_or_written() {
    let own = folder("outputs-apart");
    let copy = |file: &str| {
        let name = Path::new(file).file_name().expect("a name").to_string_lossy().into_owned();
        let copy = format!("{own}/{name}");
        fs::copy(file, &copy).expect("a copy");
        copy
    };
    let (graph, costs, fit) = (copy(PHASE12), copy("graphs/study/costs.ron"), copy("graphs/study/cuzk-fit.ron"));
    let (r1cs, wtns) = (copy(R1CS), copy(WTNS));
    // Another name of the same file.
    let roundabout = format!("{own}/../outputs-apart/costs.ron");
    let link = format!("{own}/link.ron");
    std::os::unix::fs::symlink(&costs, &link).expect("a link");
    let fresh = format!("{own}/fresh");
    let sim = ["sim", &graph, "--costs", &costs];
    let prove = ["prove", "--r1cs", &r1cs, "--wtns", &wtns, "--params", &own];
    for (arguments, read) in [
        ([&sim[..], &["--trace", &graph]].concat(), "the graph"),
        ([&sim[..], &["--trace", &costs]].concat(), "--costs"),
        ([&sim[..], &["--trace", &roundabout]].concat(), "--costs"),
        ([&sim[..], &["--trace", &link]].concat(), "--costs"),
        (vec!["sweep", &graph, "--costs", &costs, "--vary", "workers=1,2", "--csv", &costs], "--costs"),
        (vec!["sweep", &graph, "--costs", &costs, "--vary", "workers=1,2", "--csv", &fresh, "--plot", &fresh], "--csv"),
        (vec!["tune", &graph, "--costs", &costs, "--out", &graph], "the graph"),
        (vec!["calibrate", &fit, "--out", &fit], "the fit"),
        (vec!["calibrate", "--trace", &fit, "--graph", &graph, "--out", &fit], "--trace"),
        ([&prove[..], &["--trace", &r1cs]].concat(), "--r1cs"),
        ([&prove[..], &["--waterfall", &wtns]].concat(), "--wtns"),
        ([&prove[..], &["--waterfall", &fresh, "--trace", &fresh]].concat(), "--waterfall"),
        (vec!["export-vk", &r1cs, "-o", &r1cs], "the key"),
    ] {
        let before: Vec<Vec<u8>> =
            [&graph, &costs, &fit, &r1cs, &wtns].map(|file| fs::read(file).expect("it is there")).into();
        refused(&arguments, 2, &["would be written over ", &format!(" as {read}: choose another")]);
        let after: Vec<Vec<u8>> =
            [&graph, &costs, &fit, &r1cs, &wtns].map(|file| fs::read(file).expect("it is there")).into();
        assert!(before == after && !Path::new(&fresh).exists(), "{arguments:?}");
    }
    // A device may be both.
    let devices =
        ["sweep", PHASE12, "--vary", "workers=1,2", "--jobs", "2", "--csv", "/dev/null", "--plot", "/dev/null"];
    assert_eq!(proofline(&devices).code, Some(0));
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["sim", "--help"], &["help", "prove"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
        let status = Command::new(env!("CARGO_BIN_EXE_proofline")).args(arguments).stdout(full).status();
        assert_eq!(status.expect("the command starts").code(), Some(6), "{arguments:?}");
        assert_eq!(proofline(arguments).code, Some(0), "{arguments:?}");
    }
    assert_eq!(proofline(&["simm"]).code, Some(2));
}

/// A run that comes to nothing leaves no folder, and none of a run that was there is touched.
#[test]
fn a_failed_run_leaves_no_folder() {
    let own = folder("outputs-failed");
    let new = format!("{own}/deep/er");
    let text = scratch("outputs-no-circuit.r1cs", "no circuit");
    refused(&["setup", "--r1cs", &text, "-o", &new], 3, &[&text]);
    refused(&["prove", "--r1cs", &text, "--wtns", WTNS, "--params", &own, "--out", &new], 3, &[&text]);
    assert_eq!(names(&own), [""; 0]);
    // What was there stays.
    fs::create_dir_all(format!("{own}/mine")).expect("a folder");
    refused(&["setup", "--r1cs", &text, "-o", &format!("{own}/mine")], 3, &[&text]);
    assert_eq!(names(&own), ["mine"]);
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "-o", &new]).code, Some(0));
    assert!(names(&new).contains(&"circuit.params".to_owned()));
}

/// A command that ends when it is interrupted. Where a test runs in the background, under `nohup` say, its children would ignore
/// the signal, as it does.
fn interruptible() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofline"));
    // SAFETY: `signal` may be called between fork and exec, and touches nothing of this process.
    unsafe {
        command.pre_exec(|| match libc::signal(libc::SIGINT, libc::SIG_DFL) {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        })
    };
    command
}

/// A run that is broken off leaves no half of a trace, and no scratch file.
#[test]
fn a_broken_off_run_leaves_no_half_of_a_trace() {
    let own = folder("outputs-broken-off");
    let key = format!("{own}/key");
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "-o", &key]).code, Some(0));
    let trace = format!("{own}/run.json");
    let mut child = interruptible()
        .args(["prove", "--r1cs", R1CS, "--wtns", WTNS, "--params", &key, "--count", "1000000", "--trace", &trace])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let proved = lines.map_while(Result::ok).find(|line| line.contains(" verified, "));
    assert!(proved.is_some(), "no proof was made");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().is_ok_and(|status| status.success()));
    assert!(!child.wait().expect("it ends").success());
    let left = names(&own);
    assert!(!left.contains(&"run.json".to_owned()), "{left:?}");
    // Where the file system has files without a name, nothing is left at all.
    let probe = proofline::PartialFile::create(Path::new(&format!("{own}/probe")), 1).expect("it can be made");
    if names(&own) == left {
        assert_eq!(left, ["key"]);
    }
    drop(probe);
    left.iter()
        .filter(|name| *name != "key")
        .for_each(|name| fs::remove_file(format!("{own}/{name}")).expect("a file"));
    // A run that comes to its end has its trace, in the place of an older one too.
    fs::write(&trace, "older").expect("a file");
    let whole = ["prove", "--r1cs", R1CS, "--wtns", WTNS, "--params", &key, "--trace", &trace];
    assert_eq!(proofline(&whole).code, Some(0));
    assert!(fs::read_to_string(&trace).expect("a trace").trim_end().ends_with(']'));
    assert_eq!(names(&own), ["key", "run.json"]);
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is() {
    let own = folder("outputs-kinds");
    let (params, zkey) = (format!("{own}/params"), format!("{own}/zkey"));
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "-o", &params]).code, Some(0));
    assert_eq!(proofline(&["setup", "--r1cs", R1CS, "--format", "zkey", "-o", &zkey]).code, Some(0));
    let vk = format!("{params}/circuit.vk");
    let json = scratch("outputs-public.json", "[\"1\"]");
    let of_circom = ["a circuit of circom (`.r1cs`)", "a witness (`.wtns`)", "JSON text"];
    let key = |file: &str, what: &str| {
        refused(&["prove", "--r1cs", R1CS, "--wtns", WTNS, "--params", file], 3, &[file, what]);
    };
    for (file, what) in [R1CS, WTNS, &json].into_iter().zip(of_circom) {
        key(file, &format!("this is {what}, not a key"));
        refused(
            &["prove", "--zkey", file, "--wtns", WTNS],
            3,
            &[file, &format!("this is {what}: give a `.zkey` file")],
        );
    }
    key(&vk, "this is a `.vk` file, which proves nothing; give the `.params` file");
    let (params_file, zkey_file) = (format!("{params}/circuit.params"), format!("{zkey}/circuit.zkey"));
    for (file, what) in [(WTNS, "a witness"), (&zkey_file, "a key of snarkjs"), (&json, "JSON text")] {
        refused(
            &["prove", "--r1cs", file, "--wtns", WTNS, "--params", &params],
            3,
            &[file, what, "give a `.r1cs` file"],
        );
    }
    for (file, what) in [(R1CS, "a circuit of circom"), (&zkey_file, "a key of snarkjs"), (&json, "JSON text")] {
        refused(
            &["prove", "--r1cs", R1CS, "--wtns", file, "--params", &params],
            3,
            &[file, what, "give a `.wtns` file"],
        );
    }
    let verify = |vk: &str, public: &str, proof: &str, parts: &[&str]| {
        refused(&["verify", "--vk", vk, "--public", public, "--proof", proof], 3, parts);
    };
    verify(WTNS, &json, &json, &[WTNS, "this is a witness (`.wtns`), not a key"]);
    verify(&vk, R1CS, &json, &[R1CS, "this is a circuit of circom (`.r1cs`); give public inputs"]);
    verify(&vk, &json, &zkey_file, &[&zkey_file, "this is a key of snarkjs (`.zkey`); give a proof"]);
    assert!(Path::new(&params_file).exists());

    // Our own caches are made again, not fetched; what a key is called is what it is read as.
    let prove = ["prove", "--zkey", &zkey_file, "--wtns", WTNS];
    assert_eq!(proofline(&prove).code, Some(0));
    for cache in [format!("{zkey_file}.resident"), format!("{zkey_file}.pce")] {
        let whole = fs::read(&cache).expect("it was kept");
        for length in [0, 5, 100] {
            fs::write(&cache, &whole[..length]).expect("it can be cut");
            let answer = proofline(&prove);
            assert_eq!(answer.code, Some(3), "{cache} {length}: {}", answer.error);
            assert!(answer.error.contains(&cache) && answer.error.contains("delete it"), "{length}: {}", answer.error);
            assert!(!answer.error.contains("fetch it again"), "{}", answer.error);
        }
        fs::write(&cache, whole).expect("it can be mended");
    }
    fs::write(&zkey_file, b"").expect("it can be emptied");
    refused(&prove, 3, &[&zkey_file, "this is an empty file: give a `.zkey` file"]);
}
