//! Prints what is wrong with graph files.

use pipeline_graph::{Source, Style, load_file, render};

fn main() -> std::io::Result<()> {
    for file in std::env::args().skip(1) {
        let catalogue = Source::read("stages/catalogue.ron".as_ref(), "stages/catalogue.ron")?;
        let outcome = load_file(file.as_ref(), &file, catalogue)?;
        for found in outcome.refusals() {
            println!("{}\n", render::diagnostic(found, &outcome.sources, Style::Plain));
        }
    }
    Ok(())
}
