//! The sources of the runtime that are compiled here leave their own tests out.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(model)");
    println!("cargo::rustc-cfg=model");
    println!("cargo::rerun-if-changed=build.rs");
}
