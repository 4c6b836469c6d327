//! What `pipeline!` must know of the stages before rustc knows their types: tags, ports, bytes.
//!
//! `catalogue.ron` beside this crate's manifest is this module's output; a test holds the two together.

use pipeline_runtime::plan::Bytes;
use pipeline_runtime::slot::Token;
use pipeline_runtime::stage::{DeallocStage, Sizes, Stage};

use crate::host;
use crate::tokens::{Classified, Evaluated, Proof, SumG2, SumsG1, Witness};

/// The catalogue, as `catalogue.ron` has it.
#[must_use]
pub fn catalogue() -> String {
    let mut text = String::from(
        "// Generated from the stages' Rust implementations; `PROOFLINE_BLESS=1 cargo test -p proofline-stages` writes it.\n\
         Catalogue(\n    version: 1,\n    tokens: {\n",
    );
    text.push_str(&token::<Witness>());
    text.push_str(&token::<Evaluated>());
    text.push_str(&token::<Classified>());
    text.push_str(&token::<SumsG1>());
    text.push_str(&token::<SumG2>());
    text.push_str(&token::<Proof>());
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

/// One token's entry.
fn token<T: Token>() -> String {
    format!("        \"{}\": (bytes: \"{}\"),\n", T::NAME, formula(&T::FORMULA.unwrap_or_default()))
}

/// `32 * aux + 1024`.
fn formula(bytes: &Bytes) -> String {
    let factors = bytes.per.each().into_iter().zip(Sizes::NAMES).filter(|(factor, _)| *factor > 0);
    let mut terms: Vec<String> = factors.map(|(factor, size)| format!("{factor} * {size}")).collect();
    if bytes.fixed > 0 || terms.is_empty() {
        terms.push(bytes.fixed.to_string());
    }
    terms.join(" + ")
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
