//! What `pipeline!` must know of the stages before rustc knows their types: tags, ports, bytes.
//!
//! `catalogue.ron` beside this crate's manifest is this module's output; a test holds the two together.

use std::fmt::Write;

use pipeline_runtime::slot::Token;
use pipeline_runtime::stage::{DeallocStage, Stage};

use crate::host;
use crate::tokens::{Classified, Evaluated, Proof, SumG2, SumsG1, Witness};

/// The bytes of a token as a formula over the sizes of a circuit.
struct Bytes {
    token: &'static str,
    formula: &'static str,
}

impl Bytes {
    const fn of<T: Token>(formula: &'static str) -> Self {
        Self { token: T::NAME, formula }
    }
}

/// Each kind of token. The formula of `Classified` is for full-sized scalars throughout; most witnesses take far less.
const TOKENS: [Bytes; 6] = [
    Bytes::of::<Witness>("32 * inputs + 32 * aux"),
    Bytes::of::<Evaluated>("96 * domain"),
    Bytes::of::<Classified>("36 * aux + 36 * a_density + 36 * b_density"),
    Bytes::of::<SumsG1>("576"),
    Bytes::of::<SumG2>("288"),
    Bytes::of::<Proof>("192"),
];

/// The catalogue, as `catalogue.ron` has it.
#[must_use]
pub fn catalogue() -> String {
    let mut text = String::from(
        "// Generated from the stages' Rust implementations; `PROOFLINE_BLESS=1 cargo test -p proofline-stages` writes it.\n\
         Catalogue(\n    version: 1,\n    tokens: {\n",
    );
    for Bytes { token, formula } in TOKENS {
        let _ = writeln!(text, "        \"{token}\": (bytes: \"{formula}\"),");
    }
    text.push_str("    },\n    stages: [\n");
    text.push_str(&implementation::<host::Synthesize>("0"));
    text.push_str(&implementation::<host::Spmv>("0"));
    text.push_str(&implementation::<host::PrepMsm>("0"));
    text.push_str(&implementation::<host::BG2Msm>("0"));
    text.push_str(&implementation::<host::GpuNttMsm>("0"));
    text.push_str(&implementation::<host::Assemble>("0"));
    text.push_str(&dealloc::<host::Dealloc>());
    text.push_str("    ],\n)\n");
    text
}

/// One stage's entry. `workspace` is what a worker of it keeps beside its tokens, in bytes.
fn implementation<S: Stage>(workspace: &str) -> String {
    let ports: Vec<String> = S::PORTS.iter().map(|port| format!("(\"{}\", \"{}\")", port.name, port.token)).collect();
    let output = format!("\"{}\"", S::Out::NAME);
    entry(S::NAME, S::BACKEND, S::TAGS.words(), &ports.join(", "), &output, workspace)
}

fn dealloc<D: DeallocStage>() -> String {
    entry("dealloc", D::BACKEND, D::TAGS.words(), "(\"dead\", \"Dead\")", "None", "0")
}

fn entry(
    stage: &str,
    backend: &str,
    tags: impl Iterator<Item = &'static str>,
    inputs: &str,
    output: &str,
    workspace: &str,
) -> String {
    let tags: Vec<String> = tags.map(|tag| format!("\"{tag}\"")).collect();
    let tags = tags.join(", ");
    format!(
        "        Implementation(\n            stage: \"{stage}\",\n            backend: \"{backend}\",\n            \
         tags: [{tags}],\n            inputs: [{inputs}],\n            output: {output},\n            \
         workspace: \"{workspace}\",\n        ),\n"
    )
}

#[cfg(test)]
mod tests;
