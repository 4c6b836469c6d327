// A runtime that lacks a policy of the graph language: one error, and nothing about what it declares.
extern crate self as pipeline_runtime;

pub mod export {
    use proofline_ui_tests::runtime::policy::facts::Facts;

    pub use proofline_ui_tests::runtime::export::*;

    pub const fn policy_facts(_: &str) -> Option<Facts> {
        None
    }
}

pipeline_macros::pipeline!("policy_of_the_runtime.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
