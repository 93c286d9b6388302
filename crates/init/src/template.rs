//! The projects that `omnilink init` can set up.
//!
//! A template is a specification, its configuration, settings, and a main file for each language with a small working
//! system. The generated file is not part of it: it is generated from the specification like any other, so it cannot be
//! out of date. The recorder is included as source text, so that a project has nothing of ours to download.

use std::path::Path;

use include_dir::{Dir, File, include_dir};
use omnilink_judge::Complaint;
use omnilink_judge::load::Around;
use omnilink_settings::Settings;

use crate::kind::{Ci, Language, Template};
use crate::manifest::{Created, Manifest};
use crate::paths::refuse_existing;
use crate::plan::{self, store};
use crate::settings::{PROFILES, SCHEMA_FILE, schema_line};

/// A file of a project: its relative path, and its text.
pub type TextFile = (String, String);

/// The sources of the templates, one directory each.
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The sources of the recorders. They are symbolic links here, so that the package has copies.
static RUST_RECORDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/recorders/rust");
static CPP_RECORDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/recorders/cpp");

/// A template in a language.
#[derive(Debug, Clone, Copy)]
pub struct Project {
    /// The template.
    pub template: Template,
    /// The language.
    pub language: Language,
    /// The service for CI.
    pub ci: Ci,
}

impl Project {
    /// The name of the specification.
    pub fn module(self) -> &'static str {
        match self.template {
            Template::Queue => "Queue",
            Template::Register => "Register",
            Template::Map => "Map",
            Template::Lock => "Lock",
            Template::Transaction => "Transaction",
        }
    }

    /// Everything but the generated file.
    fn files(self) -> Vec<TextFile> {
        let module = self.module();
        let mut files = vec![
            (format!("{module}.tla"), self.text(&format!("{module}.tla"))),
            (format!("{module}.cfg"), self.text(&format!("{module}.cfg"))),
            ("omnilink.toml".to_owned(), self.settings()),
        ];
        let main = self.language.main();
        files.push((main.to_owned(), self.text(main.trim_start_matches("src/"))));
        files.extend(project_files(self.language));
        files.extend(ci_file(self.ci, self.language));
        files
    }

    /// Writes it into a directory, with its generated file and the list for [`undo`](crate::undo).
    pub fn write(self, directory: &Path) -> Result<(), Vec<Complaint>> {
        let mut files = self.files();
        files.push((SCHEMA_FILE.to_owned(), omnilink_settings::json_schema()));
        let operations = self.language.generated();
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).chain([operations]).collect();
        refuse_existing(directory, &paths, "name a directory that has none of them: `omnilink init DIR`")?;
        for (path, text) in &files {
            store(&directory.join(path), text)?;
        }
        // The generated file is not part of a template: it follows from the specification, which is a file now.
        let spec = directory.join(format!("{}.tla", self.module()));
        let (settings, _) = Settings::read_for(&spec, None).map_err(|error| vec![Complaint::of_settings(&error)])?;
        let generated = plan::files(&plan::plan(&spec, &Around::default(), &settings)?, self.language);
        store(&directory.join(operations), &generated.operations)?;
        files.push((operations.to_owned(), generated.operations));
        let created = files.iter().map(|(path, text)| Created::new(path, text)).collect();
        let built = built(self.language).iter().map(|path| (*path).to_owned()).collect();
        Manifest { created, changed: Vec::new(), built }.write(directory)
    }

    fn settings(self) -> String {
        let harness = match self.language {
            Language::Rust => RUST_HARNESS,
            Language::Cpp => CPP_HARNESS,
        };
        schema_line()
            + &self.text("omnilink.toml").replace("{harness}", format!("[harness]\n{harness}").trim_end())
            + PROFILES
    }

    /// A file of the template.
    fn text(self, name: &str) -> String {
        let path = format!("{}/{name}", self.module().to_lowercase());
        let file = TEMPLATES.get_file(path).expect("every template has the same files");
        text(file)
    }
}

/// Files and directories that builds of a new project create.
pub(crate) fn built(language: Language) -> &'static [&'static str] {
    match language {
        Language::Rust => &["Cargo.lock", "target/release", "target/omnilink-sched"],
        Language::Cpp => &["harness", "target/omnilink-sched"],
    }
}

/// The files of a new project besides those of its specification: its build files and the recorder.
pub(crate) fn project_files(language: Language) -> Vec<TextFile> {
    match language {
        Language::Rust => {
            let mut files = vec![("Cargo.toml".to_owned(), CARGO.to_owned())];
            files.extend(recorder(language));
            files.push((".gitignore".to_owned(), "/target\n/trace\n".to_owned()));
            files
        }
        Language::Cpp => {
            let mut files = vec![("CMakeLists.txt".to_owned(), CMAKE.to_owned())];
            files.extend(recorder(language));
            files.push((".gitignore".to_owned(), "/build\n/harness\n/target\n/trace\n".to_owned()));
            files
        }
    }
}

/// The sources of the recorder: the package `omnilink/record`, or headers below `include`.
pub(crate) fn recorder(language: Language) -> Vec<TextFile> {
    match language {
        Language::Rust => {
            let mut files = vec![
                ("omnilink/record/Cargo.toml".to_owned(), RECORD.replace("{version}", VERSION)),
                // Keeps formatters of the project away from the recorder.
                ("omnilink/record/rustfmt.toml".to_owned(), include_str!("../recorders/rustfmt.toml").to_owned()),
            ];
            files.extend(sources(&RUST_RECORDER, "omnilink/record/src"));
            files
        }
        Language::Cpp => {
            // The header for C needs a library, which comes with the recorder's own package.
            let headers = sources(&CPP_RECORDER, "include/omnilink");
            headers.into_iter().filter(|(path, _)| path.ends_with(".hpp")).collect()
        }
    }
}

/// The file for a CI service, which checks the harness and fuzzes the system.
pub(crate) fn ci_file(ci: Ci, language: Language) -> Option<TextFile> {
    let (path, text) = match ci {
        Ci::Github => (".github/workflows/omnilink.yml", GITHUB),
        Ci::Gitlab => (".gitlab-ci.yml", GITLAB),
        Ci::None => return None,
    };
    // A Docker image with the compiler of the harness, in a Debian for which there is a wheel of the command.
    let (image, tools) = match language {
        Language::Rust => ("rust:1-bookworm", ""),
        Language::Cpp => ("gcc:14-bookworm", "cmake "),
    };
    let unreleased = match action().starts_with(UNSET) {
        true => "\n      # This build of omnilink belongs to no release yet: put the owner of its repository here.",
        false => "",
    };
    let text = text
        .replace("{image}", image)
        .replace("{tools}", tools)
        .replace("{unreleased}", unreleased)
        .replace("{action}", action())
        .replace("{package}", "omnilink-cli")
        .replace("{version}", VERSION);
    Some((path.to_owned(), text))
}

fn text(file: &File<'_>) -> String {
    file.contents_utf8().expect("what is built in is text").to_owned()
}

/// The files of a directory that has no directories in it.
fn sources(directory: &Dir<'_>, below: &str) -> Vec<TextFile> {
    let mut sources: Vec<TextFile> =
        directory.files().map(|file| (format!("{below}/{}", file.path().display()), text(file))).collect();
    sources.sort();
    sources
}

/// The owner of a repository that has no address yet.
const UNSET: &str = "owner--unset/";

/// The action as a workflow names it: the owner and the name of our repository.
fn action() -> &'static str {
    let address = env!("CARGO_PKG_REPOSITORY");
    address.strip_prefix("https://github.com/").expect("`repository` in Cargo.toml is on GitHub")
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) const RUST_HARNESS: &str = r#"
build = ["cargo", "build", "--release", "--quiet", "--target-dir", "target"]
run = ["target/release/harness"]
"#
.trim_ascii_start();

pub(crate) const CPP_HARNESS: &str = r#"
build = ["c++", "-O2", "-std=c++17", "-pthread", "-Iinclude", "main.cpp", "-o", "harness"]
run = ["./harness"]
"#
.trim_ascii_start();

const CARGO: &str = r#"[package]
name = "harness"
version = "0.1.0"
edition = "2021"
publish = false

[dependencies]
omnilink-record = { path = "omnilink/record" }

# A workspace of its own, wherever it stands.
[workspace]
"#;

const RECORD: &str = r#"# The recorder of omnilink {version}, as `omnilink init` brought it along.
[package]
name = "omnilink-record"
description = "Writes traces from inside a running Rust program."
version = "{version}"
edition = "2021"
rust-version = "1.63"
license = "MIT OR Apache-2.0"
publish = false

[dependencies]
libc = "0.2"

[lints.rust]
unexpected_cfgs = { level = "allow", check-cfg = ['cfg(feature, values("derive"))'] }
"#;

const CMAKE: &str = r#"cmake_minimum_required(VERSION 3.14)
project(harness CXX)

find_package(Threads REQUIRED)

add_executable(harness main.cpp)
target_compile_features(harness PRIVATE cxx_std_17)
target_include_directories(harness PRIVATE include)
target_link_libraries(harness PRIVATE Threads::Threads)
"#;

const GITHUB: &str = r#"# Checks that the harness fits the specification, and that the specification allows every run.
name: omnilink
on: [push, pull_request]

permissions:
  contents: read

jobs:
  fuzz:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # The version that wrote the harness.{unreleased}
      - uses: {action}@v{version}
        with:
          args: init --check
      - uses: {action}@v{version}
        with:
          args: fuzz --profile ci
"#;

const GITLAB: &str = r#"# Checks that the harness fits the specification, and that the specification allows every run.
omnilink:
  image: {image}
  timeout: 30m
  before_script:
    - apt-get update
    - apt-get install --yes --no-install-recommends {tools}python3-venv
    - python3 -m venv /opt/omnilink
    # The version that wrote the harness.
    - /opt/omnilink/bin/pip install {package}=={version}
    - export PATH="/opt/omnilink/bin:$PATH"
  script:
    - omnilink init --check
    - omnilink fuzz --profile ci --report junit=omnilink.xml
  artifacts:
    when: always
    paths:
      - target/omnilink
    reports:
      junit: omnilink.xml
"#;
