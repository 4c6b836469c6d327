// A runtime whose policy declares less than the graph language takes it to.
extern crate self as pipeline_runtime;

pub mod export {
    use proofline_ui_tests::runtime::policy::facts::Facts;

    pub use proofline_ui_tests::runtime::export::*;

    pub const fn policy_facts(_: &str) -> Option<Facts> {
        let tags = Tags::MEM_HEAVY.with(Tags::CCD_PINNED);
        Some(Facts { word: "priority", age_order: false, priorities: false, bytes: false, tags })
    }
}

pipeline_macros::pipeline!("policy_of_the_runtime.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
