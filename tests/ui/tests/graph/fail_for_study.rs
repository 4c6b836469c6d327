pipeline_macros::pipeline!("for_study.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
