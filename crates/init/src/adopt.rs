//! The files of a harness for an existing specification, in an existing project or a new one.
//!
//! In an existing project, all files but `omnilink.toml` are in a directory of their own, and the project's own build
//! does not see them: a Cargo package in a workspace of its own that depends on the crate, a CMake project that includes
//! the other one, or sources that one command of the compiler builds.

use std::fs;
use std::path::Path;

use omnilink_harness::Plan;
use omnilink_judge::Complaint;
use omnilink_judge::load::{Around, Parts};
use omnilink_settings::{FILE_NAME, Settings};

use crate::host::{DIRECTORY, Host, Package};
use crate::kind::{Ci, Language};
use crate::manifest::{Changed, Created, Manifest};
use crate::paths::{find_spec, refuse_existing, relative};
use crate::plan::{files, plan, store};
use crate::settings::{self, Commands};
use crate::stale::Place;
use crate::template::{self, CPP_HARNESS, RUST_HARNESS, TextFile};

/// A harness that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The directory of the project.
    pub directory: &'a Path,
    /// The specification; if `None`, that of the settings, or the only one in the directory.
    pub spec: Option<&'a Path>,
    /// The language; if `None`, that of the project.
    pub language: Option<Language>,
    /// The service for CI.
    pub ci: Ci,
}

/// All that is written. Paths are relative to the project.
pub struct Adoption {
    /// The language of the harness.
    pub language: Language,
    /// The calls of the harness.
    pub plan: Plan,
    /// New files.
    pub created: Vec<TextFile>,
    /// Existing files: their new texts, and what was added.
    pub changed: Vec<(TextFile, Changed)>,
    /// Files and directories that builds create.
    pub(crate) built: Vec<String>,
    /// The file to fill in.
    pub main: String,
    /// Sentences about what the user may have to add.
    pub remarks: Vec<String>,
}

/// Plans the harness and all its files; writes nothing.
pub fn adopt(options: &Options<'_>) -> Result<Adoption, Vec<Complaint>> {
    let one = |complaint: Complaint| vec![complaint];
    let host = Host::detect(options.directory).map_err(one)?;
    let spec = find_spec(options.directory, options.spec).map_err(one)?;
    let language = options.language.or(host.as_ref().map(Host::language)).ok_or_else(|| {
        let message = format!("{} has no Cargo, CMake, Meson or Make project", options.directory.display());
        let help = "name the language of a new one: `--lang rust` or `--lang cpp`";
        one(Complaint { help: Some(help.to_owned()), ..Complaint::new(message) })
    })?;
    let below = if host.is_some() { format!("{DIRECTORY}/") } else { String::new() };
    let (commands, built) = commands(host.as_ref(), language);
    let mut adoption = Adoption {
        language,
        plan: Plan::default(),
        created: Vec::new(),
        changed: Vec::new(),
        built,
        main: String::new(),
        remarks: Vec::new(),
    };
    let text = adoption.add_settings(options.directory, &spec, &commands)?;
    let settings = Settings::parse(&text).map_err(|error| one(Complaint::new(format!("{FILE_NAME}: {error}"))))?;
    adoption.plan = plan(&spec, &Around::default(), &settings)?;
    adoption.add_advice(&spec, &settings)?;
    let files = files(&adoption.plan, language);
    adoption.main = format!("{below}{}", files.main_name);
    adoption.created.push((format!("{below}{}", files.operations_name), files.operations));
    adoption.created.push((adoption.main.clone(), files.main));
    adoption.created.push((settings::SCHEMA_FILE.to_owned(), omnilink_settings::json_schema()));
    match &host {
        None => adoption.created.extend(template::project_files(language)),
        Some(host) => adoption.add_nested(options.directory, host)?,
    }
    adoption.created.extend(template::ci_file(options.ci, language));
    Ok(adoption)
}

/// Adds the file for a CI service alone, if one is asked for and the project has a harness already. Returns its path.
pub fn add_ci(options: &Options<'_>) -> Result<Option<String>, Vec<Complaint>> {
    let Options { directory, ci, .. } = *options;
    let settings = Settings::read(&directory.join(FILE_NAME)).ok();
    if ci == Ci::None || !settings.is_some_and(|it| !it.harness.run.is_empty() || !it.harness.build.is_empty()) {
        return Ok(None);
    }
    let Some((path, text)) = template::ci_file(ci, Place::find(directory, None)?.language) else { return Ok(None) };
    refuse_existing(directory, &[path.as_str()], "remove it, or add the commands by hand")?;
    let mut written = Manifest::read_or_new(directory)?;
    store(&directory.join(&path), &text)?;
    written.created.push(Created::new(&path, &text));
    written.write(directory)?;
    Ok(Some(path))
}

impl Adoption {
    /// Writes all of it, and the list for [`undo`](crate::undo).
    pub fn write(&self, directory: &Path) -> Result<(), Vec<Complaint>> {
        let paths: Vec<&str> = self.created.iter().map(|(path, _)| path.as_str()).collect();
        refuse_existing(directory, &paths, "`omnilink init --undo` removes what an earlier one wrote")?;
        for (path, text) in self.created.iter().chain(self.changed.iter().map(|(file, _)| file)) {
            store(&directory.join(path), text)?;
        }
        let created = self.created.iter().map(|(path, text)| Created::new(path, text)).collect();
        let changed = self.changed.iter().map(|(_, change)| change.clone()).collect();
        Manifest { created, changed, built: self.built.clone() }.write(directory)
    }

    /// Adds the settings, and returns their text.
    fn add_settings(&mut self, directory: &Path, spec: &Path, commands: &Commands) -> Result<String, Vec<Complaint>> {
        let own = directory.join(FILE_NAME);
        let named = relative(directory, spec);
        let wrong = |path: &Path, error: String| {
            let help = "`omnilink init --update` writes an existing harness again; `omnilink init --undo` removes one of `init`";
            let help = Some(help.to_owned());
            vec![Complaint { help, ..Complaint::new(format!("{}: {error}", path.display())) }]
        };
        if own.is_file() {
            let before = read(&own)?;
            let (text, added) = settings::add_harness(&before, &named, commands).map_err(|error| wrong(&own, error))?;
            let changed = Changed { path: FILE_NAME.to_owned(), added };
            self.changed.push(((FILE_NAME.to_owned(), text.clone()), changed));
            return Ok(text);
        }
        let beside = spec.with_file_name(FILE_NAME);
        let of_spec = if beside.is_file() { read(&beside)? } else { String::new() };
        let text = settings::new_settings(&named, &of_spec, commands).map_err(|error| wrong(&beside, error))?;
        if !of_spec.is_empty() {
            self.remarks.push(format!("{FILE_NAME} begins with the settings in {}.", beside.display()));
        }
        self.created.push((FILE_NAME.to_owned(), text.clone()));
        Ok(text)
    }

    /// Adds what the configuration means for runs: few values, and constraints.
    fn add_advice(&mut self, spec: &Path, settings: &Settings) -> Result<(), Vec<Complaint>> {
        let config = Parts::read(spec, &Around::default())?.config;
        let path = spec.with_extension("cfg");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for constraint in &config.constraints {
            self.remarks.push(format!(
                "`CONSTRAINT {}` in {name} limits runs too: one that exceeds it is rejected.",
                constraint.text
            ));
        }
        let is_constant = |set: &str| config.constants.iter().any(|constant| constant.name.text == set);
        let repeated = self.plan.repeated.iter().find(|repeated| is_constant(&repeated.set));
        let (Some(repeated), true) = (repeated, settings.constants.is_empty()) else { return Ok(()) };
        let fields: Vec<String> = repeated.fields.iter().map(|field| settings::quoted(field)).collect();
        let text = REPEATED
            .replace("{argument}", &repeated.argument)
            .replace("{config}", &name)
            .replace("{set}", &repeated.set)
            .replace("{fields}", &fields.join(", "));
        let new = self.created.iter_mut().find(|(path, _)| path == FILE_NAME);
        if let Some((_, settings)) = new {
            settings.push_str(&text);
            self.remarks.push(format!(
                "The values of `{}` repeat, which hides some failures: the end of {FILE_NAME} says how to draw each \
                 once.",
                repeated.argument
            ));
        }
        Ok(())
    }

    /// Adds the build files of a harness in an existing project.
    fn add_nested(&mut self, directory: &Path, host: &Host) -> Result<(), Vec<Complaint>> {
        let ignored = match self.language {
            Language::Rust => "/target\n",
            Language::Cpp => "/build\n/harness\n",
        };
        self.created.push((format!("{DIRECTORY}/.gitignore"), ignored.to_owned()));
        match (self.language, host) {
            (Language::Rust, host) => {
                self.created.extend(template::recorder(Language::Rust));
                let text = self.cargo_manifest(host);
                self.created.push((format!("{DIRECTORY}/Cargo.toml"), text));
                if let Host::Cargo(package) = host {
                    self.exclude_member(directory, package)?;
                }
            }
            (Language::Cpp, host) => {
                let headers = template::recorder(Language::Cpp).into_iter();
                self.created.extend(headers.map(|(path, text)| (format!("{DIRECTORY}/{path}"), text)));
                match host {
                    Host::CMake { libraries } => {
                        self.created.push((format!("{DIRECTORY}/CMakeLists.txt"), cmake(libraries)));
                        self.remarks.push(match libraries.is_empty() {
                            true => format!("No library was found: {DIRECTORY}/CMakeLists.txt shows how to link one."),
                            false => format!("The harness links {}: {DIRECTORY}/CMakeLists.txt.", libraries.join(", ")),
                        });
                    }
                    _ => self.remarks.push(format!(
                        "`build` in {FILE_NAME} compiles {DIRECTORY}/main.cpp: add the sources or libraries of your system."
                    )),
                }
            }
        }
        if self.language == Language::Cpp || !matches!(host, Host::Cargo(_)) {
            self.ignore_runs(directory);
        }
        Ok(())
    }

    fn cargo_manifest(&mut self, host: &Host) -> String {
        let dependency = match host {
            Host::Cargo(Package { library: Some(name), .. }) => format!("{name} = {{ path = \"..\" }}\n"),
            Host::Cargo(Package { members, .. }) if !members.is_empty() => {
                self.remarks.push(format!("Name the crate under test in {DIRECTORY}/Cargo.toml."));
                "# The crate under test:\n# name = { path = \"../path\" }\n".to_owned()
            }
            Host::Cargo(_) => {
                self.remarks.push(
                    "The package has no library to depend on: move the system from src/main.rs to src/lib.rs, and name \
                     it in omnilink/Cargo.toml."
                        .to_owned(),
                );
                "# Once the package has a library:\n# name = { path = \"..\" }\n".to_owned()
            }
            _ => String::new(),
        };
        CARGO.replace("{dependency}", &dependency)
    }

    /// Keeps the harness out of a workspace whose members are all directories.
    fn exclude_member(&mut self, directory: &Path, package: &Package) -> Result<(), Vec<Complaint>> {
        if !package.takes_members {
            return Ok(());
        }
        let text = read(&directory.join("Cargo.toml"))?;
        let added = format!("exclude = [\"{DIRECTORY}\"] # Written by `omnilink init`.\n");
        let changed = text.replacen("[workspace]\n", &format!("[workspace]\n{added}"), 1);
        if changed.parse::<toml::Table>().is_err() || changed == text {
            let message = format!("Cargo.toml: the members of `[workspace]` would include `{DIRECTORY}`");
            let help = Some(format!("add \"{DIRECTORY}\" to `exclude` of `[workspace]` first"));
            return Err(vec![Complaint { help, ..Complaint::new(message) }]);
        }
        let path = "Cargo.toml".to_owned();
        self.changed.push(((path.clone(), changed), Changed { path, added: vec![added] }));
        Ok(())
    }

    /// Keeps the directories of `omnilink fuzz` out of the repository, if there is a list of such directories.
    fn ignore_runs(&mut self, directory: &Path) {
        let Ok(text) = fs::read_to_string(directory.join(".gitignore")) else { return };
        if text.lines().any(|line| line.trim().trim_matches('/') == "target") {
            return;
        }
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let added = format!("{end}# Written by `omnilink fuzz`.\n/target/omnilink\n/target/omnilink-sched\n");
        let path = ".gitignore".to_owned();
        self.changed.push(((path.clone(), text + &added), Changed { path, added: vec![added] }));
    }
}

fn read(path: &Path) -> Result<String, Vec<Complaint>> {
    omnilink_judge::load::read(path).map_err(|complaint| vec![complaint])
}

/// The commands that build and run the harness, and what they create.
fn commands(host: Option<&Host>, language: Language) -> (Commands, Vec<String>) {
    let plain = |harness: &str, built: &[&str]| {
        let commands = Commands { harness: harness.to_owned(), controlled: String::new() };
        (commands, built.iter().map(|path| (*path).to_owned()).collect())
    };
    match (host, language) {
        (None, Language::Rust) => plain(RUST_HARNESS, template::built(language)),
        (None, Language::Cpp) => plain(CPP_HARNESS, template::built(language)),
        (Some(_), Language::Rust) => plain(NESTED_RUST, &["omnilink/Cargo.lock", "omnilink/target"]),
        (Some(Host::CMake { .. }), Language::Cpp) => {
            let command = |directory: &str| {
                format!(
                    "[\"sh\", \"-c\", \"cmake -S omnilink -B {directory} -DCMAKE_BUILD_TYPE=Release && \
                     cmake --build {directory}\"]"
                )
            };
            let (free, controlled) = ("omnilink/build", "target/omnilink-sched/build");
            let section =
                |directory: &str| format!("build = {}\nrun = [\"{directory}/omnilink-harness\"]\n", command(directory));
            let commands = Commands {
                harness: section(free),
                controlled: format!("\n[harness.controlled]\n{}", section(controlled)),
            };
            (commands, vec![free.to_owned(), "target/omnilink-sched".to_owned()])
        }
        (Some(_), Language::Cpp) => plain(NESTED_CPP, &["omnilink/harness", "target/omnilink-sched"]),
    }
}

fn cmake(libraries: &[String]) -> String {
    let (project, linked) = match libraries.is_empty() {
        true => ("# add_subdirectory(.. project EXCLUDE_FROM_ALL)".to_owned(), String::new()),
        false => ("add_subdirectory(.. project EXCLUDE_FROM_ALL)".to_owned(), format!(" {}", libraries.join(" "))),
    };
    CMAKE.replace("{project}", &project).replace("{libraries}", &linked)
}

const NESTED_RUST: &str = r#"
build = [
    "cargo", "build", "--release", "--quiet",
    "--manifest-path", "omnilink/Cargo.toml", "--target-dir", "omnilink/target",
]
run = ["omnilink/target/release/omnilink-harness"]
"#
.trim_ascii_start();

const NESTED_CPP: &str = r#"
build = [
    "c++", "-O2", "-std=c++17", "-pthread", "-Iomnilink/include", "-I.", "-Iinclude", "-Isrc",
    "omnilink/main.cpp", "-o", "omnilink/harness",
]
run = ["omnilink/harness"]
"#
.trim_ascii_start();

const REPEATED: &str = r"
# {config} gives `{set}` few values, so those of `{argument}` repeat: one that was removed and added again looks the
# same (ABA). With these lines, `{set}` has the values of the run instead, and no value is drawn twice.
# [constants]
# {set} = [{fields}]
";

const CARGO: &str = r#"[package]
name = "omnilink-harness"
version = "0.1.0"
edition = "2021"
publish = false

[dependencies]
omnilink-record = { path = "record" }
{dependency}
# A workspace of its own: builds of the project do not include it.
[workspace]
"#;

const CMAKE: &str = r#"# Builds the harness with the project in the directory above.
cmake_minimum_required(VERSION 3.14)
project(omnilink_harness LANGUAGES C CXX)

find_package(Threads REQUIRED)

# The project. Of its targets, only those that the harness links are built.
{project}

add_executable(omnilink-harness main.cpp)
target_compile_features(omnilink-harness PRIVATE cxx_std_17)
target_include_directories(omnilink-harness PRIVATE include .. ../include ../src)
target_link_libraries(omnilink-harness PRIVATE Threads::Threads{libraries})
"#;
