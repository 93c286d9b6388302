//! What this machine has installed.

use std::env;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether this machine has a program, a file, a toolchain such as `+nightly`, Miri, or a network.
pub(crate) fn is_installed(tool: &str) -> bool {
    let has = |path: &Path| path.exists();
    let answers = |args: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    match tool {
        "network" => {
            let addresses = "github.com:443".to_socket_addrs().ok().into_iter().flatten();
            addresses.take(2).any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_ok())
        }
        "miri" => answers(&["+nightly", "miri", "--version"]),
        _ if tool.starts_with('+') => answers(&[tool, "--version"]),
        _ if tool.starts_with("cargo-") => answers(&[tool.trim_start_matches("cargo-"), "--version"]),
        _ if tool.starts_with('/') => has(Path::new(tool)),
        _ => env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|place| has(&place.join(tool))),
    }
}
