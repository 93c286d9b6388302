//! Builds what users install, installs each in a place of its own, and uses it there.
//!
//! - **crates**: `cargo package` of the whole workspace, then `cargo install` of the command from the packages alone, in an
//!   empty home. Cargo takes crates from one source, so the packages are unpacked beside vendored copies of everything else.
//! - **wheel**: `maturin build`, then `pip install` in a fresh virtual environment.
//! - **deb**: `cargo deb`, then `dpkg --install` and `dpkg --purge`. Needs root.
//!
//! Each installed command then decides the histories in [`HISTORIES`]. At the end stands a table of sizes and times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::json;

use crate::tools::is_installed;
use crate::workspace::{Build, Workspace};

/// The largest size of the installed command, in bytes.
const MOST_BYTES: u64 = 20 << 20;

/// Histories against built-in specifications, and the exit code for each.
const HISTORIES: [(&str, &str, i32); 2] = [
    ("register", "T0 [1 2] write(7)\nT1 [3 4] read() = 7\n", 0),
    ("register", "T0 [1 2] write(7)\nT1 [3 4] read() = 8\n", 1),
];

/// A kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The crates, as a registry would get them
    Crates,
    /// The command for `pip install`
    Wheel,
    /// The command for Debian
    Deb,
}

/// What was measured.
struct Row {
    what: &'static str,
    /// Of the file that is downloaded, or of all of them.
    bytes: u64,
    /// Of the installed command.
    installed: u64,
    time: Duration,
}

/// Builds and tries packages of this kind, or of every kind.
pub(crate) fn run(workspace: &Workspace, only: Option<Kind>) -> Result<()> {
    let place = workspace.metadata.target_directory.as_std_path().join("packages");
    fs::create_dir_all(&place)?;
    let mut rows = Vec::new();
    for kind in Kind::value_variants().iter().filter(|&&kind| only.is_none_or(|only| only == kind)) {
        let start = Instant::now();
        let (what, (bytes, installed)) = match kind {
            Kind::Crates => ("crates", crates(workspace, &fresh(&place.join("crates"))?)?),
            Kind::Wheel => ("wheel", wheel(workspace, &fresh(&place.join("wheel"))?)?),
            Kind::Deb => ("deb", deb(workspace, &place)?),
        };
        // What Cargo installs has the profile of the user.
        let is_small = *kind == Kind::Crates || installed <= MOST_BYTES;
        ensure!(is_small, "the command has {installed} bytes, at most {MOST_BYTES} are allowed");
        rows.push(Row { what, bytes, installed, time: start.elapsed() });
    }
    println!("{:<8} {:>12} {:>12} {:>8}", "package", "size", "command", "time");
    for Row { what, bytes, installed, time } in rows {
        let [bytes, installed] = [bytes, installed].map(|bytes| bytes as f64 / f64::from(1 << 20));
        println!("{what:<8} {bytes:>8.2} MiB {installed:>8.2} MiB {:>6} s", time.as_secs());
    }
    Ok(())
}

/// An empty directory at this path.
fn fresh(path: &Path) -> Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

/// Packages all crates, and installs the command from them.
fn crates(workspace: &Workspace, place: &Path) -> Result<(u64, u64)> {
    let packaged = workspace.metadata.target_directory.as_std_path().join("package");
    fresh(&packaged)?;
    workspace.cargo("package --quiet --workspace --no-verify --allow-dirty")?;
    let registry = place.join("registry");
    // Prints settings for a project, which are written below.
    let vendored = Command::new("cargo")
        .args(["vendor", "--quiet", "--locked", "--versioned-dirs"])
        .arg(&registry)
        .current_dir(workspace.root())
        .output()?;
    ensure!(vendored.status.success(), "`cargo vendor` failed: {}", String::from_utf8_lossy(&vendored.stderr));
    let mut bytes = 0;
    for entry in fs::read_dir(&packaged)? {
        let file = entry?.path();
        if file.extension().is_none_or(|extension| extension != "crate") {
            continue;
        }
        bytes += fs::metadata(&file)?.len();
        execute(Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(&registry))?;
        let name = file.file_stem().context("a package has a name")?;
        let sums = json!({ "files": {}, "package": sha256(&file)? });
        fs::write(registry.join(name).join(".cargo-checksum.json"), sums.to_string())?;
    }
    let home = fresh(&place.join("home"))?;
    let sources = format!(
        "[source.crates-io]\nreplace-with = \"packages\"\n[source.packages]\ndirectory = {:?}\n[net]\noffline = true\n",
        registry.display().to_string(),
    );
    fs::write(home.join("config.toml"), sources)?;
    let mut install = Command::new("cargo");
    install.args(["install", "--quiet", "--locked", "omnilink-cli"]).current_dir(&home).env("CARGO_HOME", &home);
    // Settings of the outer build are not part of what a user has.
    for name in ["CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "RUSTFLAGS", "CI"] {
        install.env_remove(name);
    }
    execute(&mut install)?;
    // Users' own programs may depend on the facade instead.
    facade(&home)?;
    Ok((bytes, works(&home.join("bin/omnilink"))?))
}

/// Builds a program of a user that depends on the packaged facade without features, and says how long it takes.
fn facade(home: &Path) -> Result<()> {
    let project = fresh(&home.join("project"))?;
    fs::create_dir(project.join("src"))?;
    fs::write(
        project.join("Cargo.toml"),
        "[package]\nname = \"user\"\nedition = \"2024\"\n\n[dependencies]\n\
         omnilink = { version = \"0.1\", default-features = false }\n",
    )?;
    fs::write(
        project.join("src/main.rs"),
        "fn main() {\n    println!(\"{:?}\", omnilink::Interval::unfinished(1));\n}\n",
    )?;
    let start = Instant::now();
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet"]).current_dir(&project).env("CARGO_HOME", home).env_remove("CARGO_TARGET_DIR");
    execute(&mut build)?;
    println!("a program that depends on `omnilink` without features is built in {} s", start.elapsed().as_secs());
    Ok(())
}

/// Builds the wheel, and installs it in a virtual environment.
fn wheel(workspace: &Workspace, place: &Path) -> Result<(u64, u64)> {
    let (tools, user, out) = (place.join("tools"), place.join("user"), place.join("out"));
    for environment in [&tools, &user] {
        execute(Command::new("python3").args(["-m", "venv"]).arg(environment))?;
    }
    execute(Command::new(tools.join("bin/pip")).args(["install", "--quiet", "maturin>=1.9,<2"]))?;
    let mut build = Command::new(tools.join("bin/maturin"));
    build.args(["build", "--quiet", "--release", "--locked", "--manifest-path", "crates/cli/Cargo.toml", "--out"]);
    execute(build.arg(&out).current_dir(workspace.root()))?;
    let wheel = fs::read_dir(&out)?.next().context("maturin wrote no wheel")??.path();
    execute(Command::new(user.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(&wheel))?;
    Ok((fs::metadata(&wheel)?.len(), works(&user.join("bin/omnilink"))?))
}

/// Builds the Debian package, installs it, and removes it.
fn deb(workspace: &Workspace, place: &Path) -> Result<(u64, u64)> {
    ensure!(is_installed("cargo-deb"), "install it with `cargo install --locked cargo-deb`");
    let built = workspace.build_command(Build::Release)?;
    // Shell completions and the manual, which the package brings along.
    let documents = workspace.root().join(".github/release/documents");
    execute(Command::new(documents).arg(built.join("omnilink")).arg(place))?;
    let package = place.join("omnilink.deb");
    let path = package.display().to_string();
    let args = ["deb", "--quiet", "--no-build", "--strip", "--package", "omnilink-cli", "--output", &path];
    workspace.cargo_args(&args, &[])?;
    execute(Command::new("dpkg").arg("--install").arg(&package))?;
    let installed = works(Path::new("/usr/bin/omnilink"));
    let manual = Path::new("/usr/share/man/man1/omnilink-check.1.gz").exists();
    execute(Command::new("dpkg").args(["--purge", "omnilink"]))?;
    ensure!(manual, "the package has no manual");
    ensure!(!Path::new("/usr/bin/omnilink").exists(), "the package left the command behind");
    Ok((fs::metadata(&package)?.len(), installed?))
}

/// Uses an installed command, and returns its size.
fn works(command: &Path) -> Result<u64> {
    let place = tempfile::tempdir()?;
    let trace = place.path().join("trace.txt");
    for (spec, history, code) in HISTORIES {
        fs::write(&trace, history)?;
        let output =
            Command::new(command).args(["check", "--spec", spec]).arg(&trace).current_dir(place.path()).output()?;
        let got = output.status.code();
        ensure!(got == Some(code), "{}: exit code {got:?} instead of {code}", command.display());
    }
    Ok(fs::metadata(command)?.len())
}

fn sha256(file: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg(file).output()?;
    let text = String::from_utf8(output.stdout)?;
    text.split(' ').next().filter(|sum| sum.len() == 64).map(str::to_owned).context("`sha256sum` failed")
}

fn execute(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}
