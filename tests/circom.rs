//! circom users' files through the command: keys, proofs and verdicts of snarkjs.

#[path = "common/circom.rs"]
mod circom;
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use circom::{R1CS, WTNS, done, folder, key, refused, wrong_witness};
use common::proofline;

#[test]
fn from_a_key_to_a_verdict() {
    let (folder, zkey, vk) = key("verdict");
    let out = folder.join("proofs").display().to_string();
    let first = done(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out]);
    assert!(first.error.contains("is checked once, and kept converted in"), "{}", first.error);
    let again = done(&["prove", "--zkey", &zkey, "--r1cs", R1CS, "--wtns", WTNS, "--out", &out, "--force"]);
    assert!(!again.error.contains("kept converted"), "{}", again.error);
    let (proof, public) = (format!("{out}/proof-0.json"), format!("{out}/public-0.json"));
    for key in [&vk, &zkey, &format!("{zkey}.resident")] {
        assert!(done(&["verify", "--vk", key, "--public", &public, "--proof", &proof]).out.contains("valid"));
    }
    let exported = folder.join("exported.json").display().to_string();
    done(&["export-vk", &zkey, "-o", &exported]);
    assert_eq!(fs::read(&exported).unwrap(), fs::read(&vk).unwrap());
    assert_eq!(done(&["export-vk", &zkey]).out, fs::read_to_string(&vk).unwrap());

    // The same proof in both forms of the statement, and another statement.
    let other = folder.join("other.json").display().to_string();
    fs::write(&other, "[\"1\"]").unwrap();
    let answer = proofline(&["verify", "--vk", &vk, "--public", &other, "--proof", &proof]);
    assert_eq!(answer.code, Some(1), "{}", answer.out);
    done(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &out, "--force", "--format", "bin"]);
    done(&["verify", "--vk", &vk, "--public", &public, "--proof", &format!("{out}/proof-0.bin")]);
    // The folder that `setup` wrote stands for the key in it.
    let whole = folder.display().to_string();
    done(&["verify", "--vk", &whole, "--public", &public, "--proof", &format!("{out}/proof-0.bin")]);
    done(&["prove", "--r1cs", R1CS, "--params", &whole, "--wtns", WTNS]);
    let inspected = done(&["params", "inspect", &zkey]).out;
    assert!(inspected.contains("values on the odd coset, as snarkjs has it"), "{inspected}");
}

#[test]
fn a_key_that_was_replaced_is_converted_again() {
    let (folder, zkey, _) = key("replaced");
    done(&["prove", "--zkey", &zkey, "--wtns", WTNS]);
    let text = folder.display().to_string();
    done(&["setup", "--r1cs", R1CS, "--format", "zkey", "--seed", "other", "--force", "-o", &text]);
    let answer = done(&["prove", "--zkey", &zkey, "--wtns", WTNS]);
    assert!(answer.error.contains("was changed since it was converted"), "{}", answer.error);
}

#[test]
fn an_unsatisfied_witness_is_named_where_the_constraints_are_there() {
    let (folder, zkey, _) = key("unsatisfied");
    let wrong = wrong_witness(&folder);
    refused(&["prove", "--zkey", &zkey, "--r1cs", R1CS, "--wtns", &wrong], 5, &["does not satisfy", "constraint 1706"]);
    refused(
        &["prove", "--zkey", &zkey, "--wtns", &wrong],
        5,
        &["does not verify, so it is withheld", "give the `.r1cs`"],
    );
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (folder, zkey, _) = key("mismatch");
    refused(&["prove", "--zkey", R1CS, "--wtns", WTNS], 3, &["it begins with \"r1cs\", not with \"zkey\""]);
    refused(&["prove", "--zkey", &zkey, "--wtns", R1CS], 3, &["it begins with \"r1cs\", not with \"wtns\""]);
    refused(&["prove", "--zkey", &zkey], 2, &["--wtns"]);
    refused(&["prove", "--zkey", &zkey, "--circuit", "sha256:1"], 2, &["--circuit"]);
    refused(&["prove", "--zkey", &zkey, "--params", "x", "--wtns", WTNS], 2, &["--params"]);
    let cut = folder.join("cut.zkey").display().to_string();
    fs::write(&cut, &fs::read(&zkey).unwrap()[..100_000]).unwrap();
    refused(&["prove", "--zkey", &cut, "--wtns", WTNS], 3, &["ends too early", "cut off"]);
    refused(&["verify", "--vk", &zkey, "--public", WTNS, "--proof", WTNS], 3, &[WTNS]);
}

/// snarkjs accepts the second of these.
#[test]
fn proofs_outside_of_the_subgroup_are_refused() {
    let data = "tests/data/circom/bad";
    let vk = format!("{data}/verification_key.json");
    let verify = |public: &str, proof: &str| {
        ["verify", "--vk", &vk, "--public", &format!("{data}/{public}"), "--proof", &format!("{data}/{proof}")]
            .map(str::to_owned)
    };
    let refuse = |arguments: [String; 7], parts: &[&str]| {
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), 3, parts);
    };
    refuse(verify("public.json", "neg_offcurve_pi_c.json"), &["`pi_c` (a point of G1) is not on the curve"]);
    refuse(verify("public.json", "neg_subgroup_pi_c.json"), &["`pi_c`", "not in the subgroup of prime order"]);
    let good = verify("public.json", "proof.json");
    assert!(done(&good.iter().map(String::as_str).collect::<Vec<_>>()).out.contains("valid"));
    let other = verify("neg_public.json", "proof.json");
    let answer = proofline(&other.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(answer.code == Some(4) || answer.code == Some(1), "{}", answer.error);
}

/// A key for a circuit whose calculator is in tests/data.
fn key_of(name: &str) -> (PathBuf, String) {
    let folder = folder(&format!("wasm-{name}"));
    let text = folder.display().to_string();
    let r1cs = format!("tests/data/circom/{name}.r1cs");
    done(&["setup", "--r1cs", &r1cs, "--format", "zkey", "--seed", "tests", "-o", &text]);
    let zkey = folder.join("circuit.zkey").display().to_string();
    (folder, zkey)
}

/// From inputs to proofs in one command; each input is a job, and one that the circuit refuses fails alone.
#[test]
fn inputs_stream_through_the_circuits_calculator() {
    let (folder, zkey) = key_of("asserting");
    let input = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a scratch file can be written");
    input("in-0.json", r#"{"in": [0, 0], "limit": 7}"#);
    input("in-1.json", r#"{"in": ["1", 0], "limit": 8}"#);
    input("in-2.json", r#"{"in": [0, 2], "limit": 9}"#);
    input("in-3.json", r#"{"in": [0, 0], "limit": "11"}"#);
    let (pattern, out) = (folder.join("in-*.json").display().to_string(), folder.join("proofs").display().to_string());
    let wasm = "tests/data/circom/asserting.wasm";
    let answer = proofline(&["prove", "--zkey", &zkey, "--wasm", wasm, "--input", &pattern, "--out", &out]);
    assert_eq!(answer.code, Some(5), "{}{}", answer.out, answer.error);
    for part in ["in-2.json", "refuses the input", "template Bit", "3 of 4 proofs of circuit verified"] {
        assert!(answer.out.contains(part) || answer.error.contains(part), "{part}: {}{}", answer.out, answer.error);
    }
    // What the circuit says with log(), with the proof and the input that it is of.
    assert!(answer.out.contains("in-3.json): limit is 11\n"), "{}", answer.out);
    for (number, statement) in [(0, "8"), (1, "8"), (3, "12")] {
        let public = fs::read_to_string(format!("{out}/public-{number}.json")).unwrap();
        assert!(public.contains(&format!("\"{statement}\"")), "{number}: {public}");
        let (public, proof) = (format!("{out}/public-{number}.json"), format!("{out}/proof-{number}.json"));
        done(&["verify", "--vk", &zkey, "--public", &public, "--proof", &proof]);
    }
    assert!(!Path::new(&format!("{out}/proof-2.json")).exists());
}

#[test]
fn a_calculator_of_another_circuit_is_refused() {
    let (folder, zkey) = key_of("arrays");
    let prove =
        |wasm: &str, input: &str| ["prove", "--zkey", &zkey, "--wasm", wasm, "--input", input].map(str::to_owned);
    let run = |arguments: [String; 7], code: i32, parts: &[&str]| {
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), code, parts);
    };
    let data = |name: &str| format!("tests/data/circom/{name}");
    run(prove(&data("asserting.wasm"), &data("asserting.input.json")), 4, &["it is the calculator of another circuit"]);
    run(
        prove(&data("arrays.wasm"), &data("asserting.input.json")),
        3,
        &["asserting.input.json:1:3", "no input signal `in`"],
    );
    run(prove(&data("arrays.r1cs"), &data("arrays.input.json")), 3, &["is not a WebAssembly module"]);
    let none = folder.join("*.nothing").display().to_string();
    run(prove(&data("arrays.wasm"), &none), 6, &["*.nothing", "no file fits"]);
    run(prove(&data("arrays.wasm"), &data("nowhere.json")), 6, &["nowhere.json"]);
    let all = prove(&data("arrays.wasm"), &data("arrays.input.json"));
    done(&all.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_a_run_reads_is_not_cleared_away() {
    let (folder, zkey, _) = key("reads");
    let out = folder.join("both");
    fs::create_dir(&out).expect("a scratch folder can be made");
    let (out_text, witness, copy) =
        (out.display().to_string(), out.join("public-0.json"), out.join("proof-3.json").display().to_string());
    fs::copy(WTNS, &witness).expect("a scratch file can be written");
    let witness_text = witness.display().to_string();
    for force in [&[][..], &["--force"]] {
        let arguments = ["prove", "--zkey", &zkey, "--wtns", &witness_text, "--out", &out_text];
        refused(&[&arguments[..], force].concat(), 2, &["this run reads", "public-0.json", "another folder"]);
        assert!(witness.exists());
    }
    fs::remove_file(&witness).expect("it is there");
    fs::copy("tests/data/circom/arrays.input.json", &copy).expect("a scratch file can be written");
    let pattern = out.join("*.json").display().to_string();
    let arguments = ["prove", "--zkey", &zkey, "--wasm", "tests/data/circom/arrays.wasm", "--input", &pattern];
    refused(&[&arguments[..], &["--out", &out_text, "--force"]].concat(), 2, &["this run reads", "proof-3.json"]);
    assert!(Path::new(&copy).exists());
    refused(&["prove", "--zkey", &zkey, "--wtns", WTNS, "--out", &zkey], 6, &["is not a folder"]);
}

/// A folder means its one key: a second one of the other format would be passed over, or taken for it.
#[test]
fn a_folder_holds_one_key() {
    let (folder, zkey, _) = key("one-key");
    let place = folder.display().to_string();
    for force in [&[][..], &["--force"][..]] {
        let refused = proofline(&[&["setup", "--r1cs", R1CS, "--format", "params", "-o", &place][..], force].concat());
        assert_eq!(refused.code, Some(2));
        assert!(refused.error.contains(&format!("{zkey} is another key, of the other format")), "{}", refused.error);
    }
}
