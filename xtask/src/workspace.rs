//! The repository: its location, the metadata of Cargo, and commands of Cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Metadata, MetadataCommand};

/// How the command is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// Quickly.
    Debug,
    /// As users get it.
    Release,
}

/// The repository that this script belongs to.
pub(crate) struct Workspace {
    /// The packages of the workspace and everything they depend on.
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// Asks Cargo about the workspace of the current directory.
    pub(crate) fn load() -> Result<Workspace> {
        Ok(Workspace { metadata: MetadataCommand::new().exec()? })
    }

    /// The directory that holds everything.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Runs Cargo with these arguments, separated by spaces, and fails if it does.
    pub(crate) fn cargo(&self, args: &str) -> Result<()> {
        self.cargo_with(args, &[])
    }

    /// Runs Cargo with these arguments and environment variables.
    pub(crate) fn cargo_with(&self, args: &str, variables: &[(&str, &str)]) -> Result<()> {
        self.cargo_args(&args.split_whitespace().collect::<Vec<_>>(), variables)
    }

    /// The same with arguments that may have spaces.
    pub(crate) fn cargo_args(&self, args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        let mut command = Command::new("cargo");
        command.args(args).envs(variables.iter().copied()).current_dir(self.root());
        let status = command.status().context("cannot run cargo")?;
        ensure!(status.success(), "`cargo {}` failed", args.join(" "));
        Ok(())
    }

    /// Builds `omnilink`, and returns the directory that it is in then.
    pub(crate) fn build_command(&self, build: Build) -> Result<PathBuf> {
        match build {
            Build::Debug => self.build_programs(),
            Build::Release => {
                self.cargo("build --quiet --release --package omnilink-cli")?;
                Ok(self.metadata.target_directory.join("release").into())
            }
        }
    }

    /// Builds every program as tests use them, and returns the directory that they are in then.
    ///
    /// Cargo chooses the features of dependencies for all packages that it is asked for together, those of development
    /// dependencies only if tests or examples are built. Any other selection would build most of the workspace again.
    pub(crate) fn build_programs(&self) -> Result<PathBuf> {
        self.cargo("build --quiet --bins --examples")?;
        Ok(self.metadata.target_directory.join("debug").into())
    }
}

/// Runs a program, and fails if it does.
pub(crate) fn call(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// The same command, with this directory before those of `PATH`.
pub(crate) fn with_path<'a>(command: &'a mut Command, first: &Path) -> Result<&'a mut Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    Ok(command.env("PATH", env::join_paths([first.to_owned()].into_iter().chain(env::split_paths(&path)))?))
}
