//! The repository's own rules.

use std::path::Path;
use std::process::Command;

/// Licences that a dependency may have.
const ALLOWED: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "Unicode-3.0",
    "Apache-2.0 WITH LLVM-exception",
];

/// Whether an SPDX expression can be satisfied with allowed licences. `/` is the old way to write `OR`.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // `A AND B` needs both. Where AND and OR meet, each side of every AND must have a choice that is allowed, which is
    // stricter than SPDX's precedence.
    plain.split(" AND ").all(|all| all.split(" OR ").any(|one| ALLOWED.contains(&one.trim())))
}

#[test]
fn the_reading_of_licences_is_right() {
    assert!(allowed("MIT OR Apache-2.0"));
    assert!(allowed("MIT/Apache-2.0"));
    assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(allowed("GPL-2.0 OR MIT"));
    assert!(!allowed("GPL-3.0"));
    assert!(!allowed("MIT AND GPL-3.0"));
    assert!(!allowed(""));
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("cargo lists packages");
    assert!(packages.len() > 50, "only {} packages: is this the whole list?", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "licences that are not allowed:\n{}", refused.join("\n"));
}

#[test]
fn architecture_names_every_crate_and_every_folder_of_the_runtime() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    for member in [
        "pipeline-macros",
        "pipeline-macros/graph",
        "runtime",
        "runtime/model",
        "stages",
        "stages/circom-wasm",
        "kernels",
        "memory",
        "tests/ui",
        "tests/e2e",
        "study",
        "benches/memory",
        "benches/proofs",
    ] {
        assert!(text.contains(&format!("`{member}/`")), "ARCHITECTURE.md does not say what is in {member}/");
    }
    for entry in std::fs::read_dir(root.join("runtime/src")).expect("the runtime has sources") {
        let name = entry.expect("an entry can be read").file_name().to_string_lossy().into_owned();
        let name = name.trim_end_matches(".rs").to_owned();
        let listed = ["lib", "testing"].contains(&name.as_str()) || text.contains(&format!("`{name}`"));
        assert!(listed, "ARCHITECTURE.md does not say what runtime/src/{name} is for");
    }
}

#[test]
fn the_state_machines_import_no_threads_and_no_clock() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/src");
    let mut left: Vec<_> = ["policy", "permits.rs", "scheduler.rs", "scheduler", "placement.rs", "sim", "mock"]
        .map(|name| sources.join(name))
        .to_vec();
    let mut read = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder can be read");
            left.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source can be read");
        for word in ["rayon::", "crossbeam_channel::", "cudarc::", "Instant::now", "SystemTime"] {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
        read += 1;
    }
    assert!(read > 10, "only {read} files were read");
}
