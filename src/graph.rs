//! The one place where the graph is compiled in.

pipeline_macros::pipeline!("graphs/host.ron", env = "PROOFLINE_GRAPH");
