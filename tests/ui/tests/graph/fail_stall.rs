pipeline_macros::pipeline!("stall.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
