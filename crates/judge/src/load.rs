//! From files to a program.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use omnilink_tla::config::{self, Config};
use omnilink_tla::ir::{DefId, Module};
use omnilink_tla::program::{LinkOptions, Program, link};
use omnilink_tla::resolve::{Loader, resolve, resolve_expression};
use omnilink_tla::strings::Strings;
use omnilink_tla_syntax::Span;
use omnilink_tla_syntax::ast::Name;

use crate::complaint::{Complaint, Text};

/// The files that belong to a module.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// The configuration; if `None`, the module's path with `.cfg`.
    pub config: Option<PathBuf>,
    /// Directories to search for modules that are neither beside the root module nor built in.
    pub includes: Vec<PathBuf>,
}

/// A linked program, with its warnings.
#[derive(Debug)]
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// The definitions of the requested expressions.
    pub expressions: Vec<DefId>,
    /// Warnings.
    pub warnings: Vec<Complaint>,
}

/// A module and its configuration, each without errors of its own.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The module, with all that it extends.
    pub module: Module,
    /// The configuration.
    pub config: Config,
    text: Text,
}

/// Reads a module, its configuration, and expressions to evaluate.
pub fn load(
    file: &Path,
    around: &Around,
    options: LinkOptions,
    expressions: &[&str],
) -> Result<Loaded, Vec<Complaint>> {
    let beside = file.with_extension("cfg");
    let is_config_missing = around.config.is_none() && !beside.is_file();
    let mut loaded = Parts::read(file, around)?.link(options, expressions).map_err(|mut complaints| {
        // An error about a missing setting is easier to fix if it says that the configuration file is missing.
        for complaint in complaints.iter_mut().filter(|complaint| is_config_missing && complaint.lacks_config) {
            complaint.message = format!("{}: no `{}` found", complaint.message, beside.display());
        }
        complaints
    })?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    loaded.warnings.extend(Complaint::of_file_name(&loaded.program, &stem));
    Ok(loaded)
}

/// Links an expression on its own.
pub fn load_expression(expression: &str, extends: &[String]) -> Result<Loaded, Vec<Complaint>> {
    let extends = if extends.is_empty() { String::new() } else { format!("EXTENDS {}\n", extends.join(", ")) };
    let text = format!("---- MODULE Expression ----\n{extends}====");
    let config = Text { path: String::new(), text: String::new() };
    let options = LinkOptions { without_behavior: true, ..LinkOptions::default() };
    Parts::new("--extends", &text, config, &mut Files { directories: Vec::new() })?.link(options, &[expression])
}

impl Parts {
    /// Reads a module, its configuration, and the modules that it needs.
    pub fn read(file: &Path, around: &Around) -> Result<Parts, Vec<Complaint>> {
        let text = read(file).map_err(|complaint| vec![complaint])?;
        let beside = file.with_extension("cfg");
        let config = match &around.config {
            Some(path) => Some(path),
            None => beside.is_file().then_some(&beside),
        };
        let config = match config.map(|path| read(path).map(|text| Text { path: path.display().to_string(), text })) {
            Some(config) => config.map_err(|complaint| vec![complaint])?,
            None => Text { path: beside.display().to_string(), text: String::new() },
        };
        let mut directories = vec![file.parent().map_or_else(PathBuf::new, Path::to_owned)];
        directories.extend(around.includes.iter().cloned());
        Parts::new(&file.display().to_string(), &text, config, &mut Files { directories })
    }

    fn new(name: &str, text: &str, config: Text, files: &mut Files) -> Result<Parts, Vec<Complaint>> {
        let mut strings = Strings::default();
        let parsed = config::parse(&config.text, &mut strings);
        let module = resolve(name, text, files, strings).map_err(|errors| Complaint::of_modules(&errors));
        let (parsed, module) = both(parsed, module, &config)?;
        Ok(Parts { module, config: parsed, text: config })
    }

    /// If the configuration does not name a behavior, for example because it has constants only, or if there is none, the
    /// specification is the operator with the usual name.
    pub(crate) fn assume_behavior(&mut self) {
        let config = &self.config;
        if config.specification.is_some() || config.init.is_some() || config.next.is_some() {
            return;
        }
        let named = |name: &str| {
            let is_defined = self.module.names.contains_key(name);
            is_defined.then(|| Name { text: name.to_owned(), span: Span::default() })
        };
        let (init, next, spec) = (named("Init"), named("Next"), named("Spec"));
        match (init, next) {
            (Some(init), Some(next)) => (self.config.init, self.config.next) = (Some(init), Some(next)),
            _ => self.config.specification = spec,
        }
    }

    /// The path of the configuration, even if the file does not exist.
    pub(crate) fn config_path(&self) -> Option<PathBuf> {
        (!self.text.path.is_empty()).then(|| PathBuf::from(&self.text.path))
    }

    /// Links a program, with expressions to evaluate.
    pub fn link(self, options: LinkOptions, expressions: &[&str]) -> Result<Loaded, Vec<Complaint>> {
        let Parts { mut module, config, text } = self;
        let expressions = expressions.iter().map(|text| resolve_expression(&mut module, text));
        let expressions = expressions.collect::<Result<_, _>>().map_err(|errors| Complaint::of_modules(&errors))?;
        let program = link(module, &config, options).map_err(|errors| Complaint::of_link(&errors, &text))?;
        let warning = |warning| Complaint::of_warning(&program.module.sources, &text, warning);
        let warnings = program.warnings.iter().map(warning).collect();
        Ok(Loaded { program, expressions, warnings })
    }
}

/// The errors of the configuration and of the modules together.
fn both(
    config: Result<Config, Vec<omnilink_tla_syntax::Diagnostic>>,
    module: Result<Module, Vec<Complaint>>,
    text: &Text,
) -> Result<(Config, Module), Vec<Complaint>> {
    match (config, module) {
        (Ok(config), Ok(module)) => Ok((config, module)),
        (config, module) => {
            let errors = config.err().unwrap_or_default();
            let mut complaints: Vec<Complaint> = errors.iter().map(|error| Complaint::of_config(text, error)).collect();
            complaints.extend(module.err().unwrap_or_default());
            Err(complaints)
        }
    }
}

/// The text of a file.
pub fn read(path: &Path) -> Result<String, Complaint> {
    let complaint = |error: std::io::Error| {
        let mut complaint = Complaint::new(format!("{}: {error}", path.display()));
        if path.extension() != Some(OsStr::new("tla")) && path.with_extension("tla").is_file() {
            complaint.help = Some(format!("did you mean `{}`?", path.with_extension("tla").display()));
        }
        complaint
    };
    fs::read_to_string(path).map_err(complaint)
}

/// Modules in directories; the first directory that has one wins.
struct Files {
    directories: Vec<PathBuf>,
}

impl Loader for Files {
    fn load(&mut self, module: &str) -> Option<(String, String)> {
        self.directories.iter().find_map(|directory| {
            let path = directory.join(module).with_extension("tla");
            Some((path.display().to_string(), fs::read_to_string(&path).ok()?))
        })
    }
}
