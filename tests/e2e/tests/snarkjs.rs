//! Whole rounds with circom and snarkjs: its keys and ours, its proofs and ours, its verdict, ours and arkworks'.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use blstrs::Scalar;
use ff::Field;
use proofline_e2e::snarkjs::Tools;
use proofline_e2e::{arkworks, comparison};
use proofline_stages::params::setup::{Entropy, generate_for};
use proofline_stages::params::{Convention, Parameters, ProvingKey, Zkey};
use proofline_stages::progress::unwatched;
use proofline_stages::verify::{ProofPoints, parse_public_inputs, snarkjs, write_public_inputs};
use proofline_stages::{CircuitShape, WitnessSource};

/// A circuit of circom, an input, and what is special about it.
struct Case {
    name: &'static str,
    source: &'static str,
    input: &'static str,
    options: &'static [&'static str],
    /// Public wires, ONE not counted.
    public: usize,
}

const CASES: [Case; 6] = [
    Case {
        name: "nothing_public",
        source: "pragma circom 2.0.0; template M() { signal input a; signal input b; signal c; c <== a * b; }
                 component main = M();",
        input: r#"{"a": 3, "b": "11"}"#,
        options: &[],
        public: 0,
    },
    Case {
        name: "outputs_only",
        source: "pragma circom 2.0.0; template M() { signal input a; signal input b; signal output c; c <== a * b; }
                 component main = M();",
        input: r#"{"a": 3, "b": 11}"#,
        options: &[],
        public: 1,
    },
    Case {
        name: "linear_rows",
        source: "pragma circom 2.0.0;
                 template M() { signal input a[3]; signal input k; signal s; signal t; signal output o;
                                s <== a[0] + 2 * a[1] + 3; t <== s - 5 * a[2]; o <== t * k; }
                 component main {public [k]} = M();",
        input: r#"{"a": [1, 2, 3], "k": 7}"#,
        options: &["--O0"],
        public: 2,
    },
    Case {
        name: "bits",
        source: "pragma circom 2.0.0;
                 template M(n) { signal input x; signal input salt; signal b[n]; signal output ones; signal output mixed;
                     var sum = 0; var count = 0;
                     for (var i = 0; i < n; i++) { b[i] <-- (x >> i) & 1; b[i] * (b[i] - 1) === 0;
                                                   sum += b[i] * (1 << i); count += b[i]; }
                     sum === x; ones <== count; mixed <== x * salt; }
                 component main {public [salt]} = M(40);",
        input: r#"{"x": 1099511627775, "salt": "52435875175126190479447740508185965837690552500527637822603658699938581184512"}"#,
        options: &["--O1"],
        public: 3,
    },
    Case {
        name: "no_constraints",
        source: "pragma circom 2.0.0; template M() { signal input a; signal input b; }
                 component main {public [a, b]} = M();",
        input: r#"{"a": 5, "b": 6}"#,
        options: &[],
        public: 2,
    },
    Case {
        name: "cubes",
        source: "pragma circom 2.0.0;
                 template M(n) { signal input x; signal s[n + 1]; signal t[n]; signal output y; s[0] <== x;
                     for (var i = 0; i < n; i++) { t[i] <== (s[i] + i) * (s[i] + i); s[i + 1] <== t[i] * (s[i] + i); }
                     y <== s[n]; }
                 component main = M(20);",
        input: r#"{"x": "0x1234567890abcdef1234567890abcdef"}"#,
        options: &["--O2"],
        public: 1,
    },
];

#[test]
fn circom_and_snarkjs_agree_with_us() {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    let Some(tools) = Tools::in_folder(&tools) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // A ceremony of one, large enough for every case, with the top power that snarkjs treats in its own way.
    let run = |arguments: &[&str]| tools.snarkjs(arguments, folder);
    run(&["powersoftau", "new", "bls12381", "6", "new.ptau"]).unwrap();
    run(&["powersoftau", "contribute", "new.ptau", "one.ptau", "--name=test", "-e=test"]).unwrap();
    run(&["powersoftau", "prepare", "phase2", "one.ptau", "final.ptau"]).unwrap();
    for case in &CASES {
        round(&tools, folder, case);
    }
}

fn round(tools: &Tools, folder: &Path, case: &Case) {
    let Case { name, source, input, options, public } = case;
    let run = |arguments: &[&str]| tools.snarkjs(arguments, folder);
    tools.circom(name, source, folder, options);
    fs::write(folder.join("input.json"), input).unwrap();
    let (r1cs, wtns) = (format!("{name}.r1cs"), format!("{name}.wtns"));
    run(&["wtns", "calculate", &format!("{name}_js/{name}.wasm"), "input.json", &wtns]).unwrap();
    let with_c = CircuitShape::from_r1cs(&folder.join(&r1cs)).unwrap();
    assert_eq!(with_c.inputs(), public + 1, "{name}");

    // Ours, over a domain as large as snarkjs makes it.
    let with_c = with_c.with_domain(with_c_domain(&folder.join(&r1cs))).unwrap();
    let key = generate_for(&with_c, Convention::OddCoset, &Entropy::Seed(name), &unwatched).unwrap();
    let ours = format!("{name}-ours.zkey");
    Zkey::write(&folder.join(&ours), &key, &with_c).unwrap();
    // snarkjs', as it is after the setup (δ = 1) and after a contribution; it makes none for a circuit without constraints.
    let (fresh, theirs) = (format!("{name}-fresh.zkey"), format!("{name}-theirs.zkey"));
    let mut keys = vec![ours];
    if with_c.constraints() > 0 {
        run(&["groth16", "setup", &r1cs, "final.ptau", &fresh]).unwrap();
        run(&["zkey", "contribute", &fresh, &theirs, "--name=test", "-e=more"]).unwrap();
        keys.extend([fresh, theirs]);
    }
    for zkey in &keys {
        prove_and_judge(tools, folder, zkey, &with_c, &wtns);
    }
}

/// The domain that snarkjs chooses: never of one point.
fn with_c_domain(r1cs: &Path) -> usize {
    CircuitShape::from_r1cs(r1cs).unwrap().domain().size().max(2)
}

fn prove_and_judge(tools: &Tools, folder: &Path, zkey: &str, with_c: &CircuitShape, wtns: &str) {
    let run = |arguments: &[&str]| tools.snarkjs(arguments, folder);
    let file = folder.join(zkey);
    let read = Zkey::open(&file, &unwatched).unwrap();
    let shape = Arc::new(read.shape(&unwatched).unwrap());
    assert_eq!(shape.sizes(), with_c.sizes(), "{zkey}");
    let parameters = Parameters::of_zkey(&read, &unwatched).unwrap();
    let key = Arc::new(ProvingKey::new(parameters.clone()));
    let source = WitnessSource::from_wtns(&shape, &folder.join(wtns)).unwrap();
    let public = source.public_inputs().get().unwrap().to_vec();
    let values = proofline_stages::circuits::read_wtns(&folder.join(wtns)).unwrap();
    let (r, s) = comparison::blinding(zkey);
    let proof = comparison::prove(&shape, &key, &values, r, s);

    // Our proof before snarkjs, with its own verifying key and with ours, and before arkworks.
    fs::write(folder.join("public.json"), write_public_inputs(&public)).unwrap();
    fs::write(folder.join("proof.json"), snarkjs::write_proof(&ProofPoints::parse(&proof).unwrap())).unwrap();
    run(&["zkey", "export", "verificationkey", zkey, "vk.json"]).unwrap();
    fs::write(folder.join("ours.json"), snarkjs::write_key(read.verifying_key())).unwrap();
    for vk in ["vk.json", "ours.json"] {
        let verdict = run(&["groth16", "verify", vk, "public.json", "proof.json"]).unwrap();
        assert!(verdict.contains("OK!"), "{zkey} {vk}: {verdict}");
    }
    let ark_key = arkworks::verifying_key(&parameters);
    assert!(arkworks::accepts(&ark_key, &proof, &public), "{zkey}: arkworks on our proof");

    // snarkjs' proof before us and arkworks.
    run(&["groth16", "prove", zkey, wtns, "their-proof.json", "their-public.json"]).unwrap();
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(parse_public_inputs(&text("their-public.json")).unwrap(), public, "{zkey}");
    let theirs = snarkjs::parse_proof(&text("their-proof.json")).unwrap();
    let vk = snarkjs::parse_key(&text("vk.json")).unwrap();
    assert!(vk.verify(&theirs, &public).unwrap(), "{zkey}: snarkjs' proof");
    assert!(arkworks::accepts(&ark_key, &theirs.to_bytes(), &public), "{zkey}: arkworks on snarkjs' proof");

    // All three refuse another statement.
    for index in 0..public.len() {
        let mut other = public.clone();
        other[index] += Scalar::ONE;
        fs::write(folder.join("other.json"), write_public_inputs(&other)).unwrap();
        run(&["groth16", "verify", "vk.json", "other.json", "proof.json"]).unwrap_err();
        assert!(!vk.verify(&ProofPoints::parse(&proof).unwrap(), &other).unwrap(), "{zkey} {index}");
        assert!(!arkworks::accepts(&ark_key, &proof, &other), "{zkey} {index}");
    }
}
