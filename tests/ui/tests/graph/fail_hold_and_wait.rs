pipeline_macros::pipeline!("hold_and_wait.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
