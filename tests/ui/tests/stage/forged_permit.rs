use pipeline_runtime::export::MemPermit;

fn main() {
    let _ = MemPermit::new();
    let _ = <MemPermit as Default>::default();
}
