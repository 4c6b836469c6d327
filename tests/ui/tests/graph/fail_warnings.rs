// Warnings of a graph reach rustc as uses of something deprecated; here they are made errors to be seen.
#![deny(deprecated)]

pipeline_macros::pipeline!("warnings.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
