//! The expansion, written to `target/proofline/<graph>.rs` for reading.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

/// Writes the expansion down, beside the other outputs of this build. Nothing depends on the file, so what goes wrong
/// is ignored.
pub fn write_down(graph: &str, tokens: &TokenStream) {
    let stem = Path::new(graph).file_stem().unwrap_or_default();
    if let Some(target) = target_folder(std::env::args_os()) {
        let text = pipeline_graph::emit::readable(tokens);
        let _ = write(&target.join("proofline"), stem.to_owned(), &text);
    }
}

/// By way of another name, so that a reader never sees half of it, and two builds do not mix.
fn write(folder: &Path, mut name: OsString, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let unfinished = folder.join(format!(".{}.{}", name.display(), std::process::id()));
    std::fs::write(&unfinished, text)?;
    name.push(".rs");
    std::fs::rename(unfinished, folder.join(name))
}

/// The target folder: the nearest folder above rustc's `--out-dir` that cargo has marked as its cache.
fn target_folder(arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut arguments = arguments.skip_while(|argument| argument != "--out-dir");
    let out = PathBuf::from(arguments.nth(1)?);
    let marked = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    marked.map(Path::to_owned)
}
