//! `omnilink init --update` and `--check`: which generated file is meant.

use std::path::Path;

use omnilink_judge::Complaint;
use omnilink_settings::{FILE_NAME, Settings};

use super::adopt::{find_spec, relative};
use super::stale::Existing;
use crate::args::{AroundArgs, GenArgs, InitArgs, Language};

/// The generated file: of the harness in the directory, or in the directory for a specification that is given.
pub(super) fn target(args: &InitArgs) -> Result<GenArgs, Vec<Complaint>> {
    if let Some(spec) = &args.spec {
        return Ok(GenArgs {
            language: language(args)?,
            spec: spec.clone(),
            output: args.directory.clone(),
            check: args.check,
            settings: args.settings.clone(),
            around: around(args),
        });
    }
    of_harness(args)
}

/// The generated file of the harness in the directory.
pub(super) fn of_harness(args: &InitArgs) -> Result<GenArgs, Vec<Complaint>> {
    let file = args.settings.clone().unwrap_or_else(|| args.directory.join(FILE_NAME));
    // A path below the current directory is shown relative to it.
    let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
    let directory = file.parent().unwrap_or(Path::new(""));
    let is_given = args.settings.is_some() || file.is_file();
    let settings = if is_given { Settings::read(&file) } else { Ok(Settings::default()) };
    let settings = settings.map_err(|error| vec![Complaint::of_settings(&error)])?;
    let spec = match &settings.spec {
        Some(spec) => spec.clone(),
        None => {
            let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            relative(here, &find_spec(args).map_err(|complaint| vec![complaint])?)
        }
    };
    let harness = Existing { directory, file: &file, settings: &settings, spec: &spec };
    let (language, output) = harness.place()?.ok_or_else(|| {
        let message = format!("no generated file of a harness for `{spec}` found");
        let help =
            "`omnilink init` sets up a harness; `--update` with `--spec` and `--lang` writes its generated part alone";
        vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }]
    })?;
    let settings = is_given.then(|| file.clone());
    Ok(GenArgs { language, spec: directory.join(&spec), output, check: args.check, settings, around: around(args) })
}

fn around(args: &InitArgs) -> AroundArgs {
    AroundArgs { config: args.config.clone(), includes: args.includes.clone() }
}

/// The language that is given, or that of the generated file in the directory.
fn language(args: &InitArgs) -> Result<Language, Vec<Complaint>> {
    let is_there = |language: &Language| args.directory.join(language.generated()).is_file();
    args.lang.or_else(|| [Language::Rust, Language::Cpp].into_iter().find(is_there)).ok_or_else(|| {
        let message = format!("{} has no generated file of a harness", args.directory.display());
        let help = "name the language of a new one: `--lang rust` or `--lang cpp`";
        vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }]
    })
}
