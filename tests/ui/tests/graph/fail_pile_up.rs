pipeline_macros::pipeline!("pile_up.ron", catalogue = "../../catalogue.ron", stages = ::proofline_ui_tests);

fn main() {}
