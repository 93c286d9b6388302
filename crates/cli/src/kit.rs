//! The tools that build programs for control, and the environment that they find.

use std::ffi::OsString;
use std::path::PathBuf;

use omnilink_explore::Kit;
use omnilink_explore::instrument::cargo::Said;

/// The runtime and its files, in the user's cache: programs refer to it, and outlive `cargo clean`.
pub(crate) fn kit() -> Result<Kit, String> {
    let below_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = cache.or_else(below_home).filter(|cache| std::fs::create_dir_all(cache).is_ok());
    let cache = home.unwrap_or_else(std::env::temp_dir);
    let omnilink = std::env::current_exe().map_err(|error| format!("cannot find the path of this command: {error}"))?;
    Kit::install(&cache.join("omnilink"), &omnilink, &path()).map_err(|error| error.to_string())
}

/// The directories searched for programs.
pub(crate) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// The environment for Rust compilers.
pub(crate) fn said_to_rust() -> Said {
    let flags = |encoded: &str, plain: &str| match (std::env::var(encoded), std::env::var(plain)) {
        (Ok(flags), _) if !flags.is_empty() => flags.split('\x1f').map(str::to_owned).collect(),
        (_, Ok(flags)) => flags.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    Said {
        rust_flags: flags("CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"),
        doc_flags: flags("CARGO_ENCODED_RUSTDOCFLAGS", "RUSTDOCFLAGS"),
        wrapper: std::env::var("RUSTC_WRAPPER").ok().filter(|wrapper| !wrapper.is_empty()),
    }
}
