//! Draws a graph file as SVG.

use pipeline_graph::{Source, load_file, render};

fn main() -> std::io::Result<()> {
    for file in std::env::args().skip(1) {
        let catalogue = Source::read("stages/catalogue.ron".as_ref(), "stages/catalogue.ron")?;
        if let Some(plan) = load_file(file.as_ref(), &file, catalogue)?.plan {
            print!("{}", render::svg(&plan));
        }
    }
    Ok(())
}
