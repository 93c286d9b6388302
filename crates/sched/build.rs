//! Hands the path of this package to the build script of `explore`, which builds the runtime from it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets `CARGO_MANIFEST_DIR`");
    println!("cargo::metadata=root={root}");
}
