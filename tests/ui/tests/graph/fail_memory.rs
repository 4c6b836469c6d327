pipeline_macros::pipeline!("memory.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
