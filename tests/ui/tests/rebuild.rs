//! What makes a build run again: the graph, its SKU, the variable that names another graph. Nothing is touched.

#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A package of its own with one graph.
struct Package {
    folder: tempfile::TempDir,
}

const GRAPH: &str = r#"Graph(
    version: 1,
    sku: "tiny",
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("count", on: "all"),
        Stage("square", needs: { "mem_heavy": 1 }),
        Stage("cube"),
        Stage("add"),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("count", "square"), Edge("count", "cube"), Edge("square", "add"), Edge("cube", "add")],
)"#;

impl Package {
    fn new() -> Self {
        let package = Self { folder: tempfile::tempdir().expect("a folder can be made") };
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let at = |path: &str| root.join(path).canonicalize().expect("it is there").display().to_string();
        let manifest = format!(
            "[package]\nname = \"rebuilt\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             pipeline-macros = {{ path = {:?} }}\npipeline-runtime = {{ path = {:?} }}\nproofline-ui-tests = {{ path = {:?} }}\n",
            at("../../pipeline-macros"),
            at("../../runtime"),
            at(".")
        );
        package.write("Cargo.toml", &manifest);
        package.write("Cargo.lock", &std::fs::read_to_string(root.join("../../Cargo.lock")).expect("it is there"));
        package.write("catalogue.ron", &std::fs::read_to_string(root.join("catalogue.ron")).expect("it is there"));
        package
            .write("skus/tiny.ron", &std::fs::read_to_string(root.join("graphs/skus/tiny.ron")).expect("it is there"));
        package.write("graph.ron", GRAPH);
        package.write(
            "src/lib.rs",
            "pipeline_macros::pipeline!(\"graph.ron\", env = \"REBUILT_GRAPH\", catalogue = \"catalogue.ron\", stages = ::proofline_ui_tests);\n",
        );
        package
    }

    fn write(&self, path: &str, text: &str) {
        let path: PathBuf = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }

    /// What the build says, with the graph of the variable if there is one.
    fn build(&self, graph: Option<&str>) -> Result<String, String> {
        let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        cargo.args(["check", "--offline", "--color", "never"]).current_dir(self.folder.path());
        // The dependencies that the other cases of this package have built already.
        cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("rebuild"));
        cargo.env_remove("REBUILT_GRAPH").env_remove("RUSTFLAGS");
        if let Some(graph) = graph {
            cargo.env("REBUILT_GRAPH", graph);
        }
        let output = cargo.output().expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(text) } else { Err(text) }
    }

    fn builds(&self, graph: Option<&str>) {
        if let Err(text) = self.build(graph) {
            panic!("it should build:\n{text}");
        }
    }

    fn fails(&self, graph: Option<&str>, code: &str) {
        match self.build(graph) {
            Ok(text) => panic!("it should fail with {code}:\n{text}"),
            Err(text) => assert!(text.contains(code), "no {code} in:\n{text}"),
        }
    }
}

#[test]
fn a_build_follows_graph_sku_and_variable() {
    let package = Package::new();
    package.builds(None);
    // A fault in the graph, and its repair.
    package.write("graph.ron", &GRAPH.replace("\"mem_heavy\": 1 })", "\"mem_heavy\": 2 })"));
    package.fails(None, "PL0107");
    package.write("graph.ron", GRAPH);
    package.builds(None);
    // The same in the SKU.
    let sku = std::fs::read_to_string(package.folder.path().join("skus/tiny.ron")).expect("it is there");
    package.write("skus/tiny.ron", &sku.replace("ccds:", "cdcs:"));
    package.fails(None, "PL0002");
    package.write("skus/tiny.ron", &sku);
    package.builds(None);
    // Another graph by the variable, and back.
    package.write("other.ron", &GRAPH.replace("Stage(\"add\")", "Stage(\"ad\")"));
    package.fails(Some("other.ron"), "PL0007");
    package.write(
        "other.ron",
        &GRAPH.replace("\"mem_heavy\": 1, \"dealloc\"", "\"idle\": 1, \"mem_heavy\": 1, \"dealloc\""),
    );
    match package.build(Some("other.ron")) {
        Ok(text) => assert!(text.contains("PL0211"), "the warning is not in:\n{text}"),
        Err(text) => panic!("it is lawful:\n{text}"),
    }
    package.builds(None);
}
