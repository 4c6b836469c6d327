use pipeline_runtime::export::MemPermit;

fn main() {
    let _ = MemPermit { _made_by_the_runtime: () };
}
