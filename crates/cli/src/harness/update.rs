//! `omnilink init --update` and `--check`: which generated file is meant.

use omnilink_init::{Language, Place};
use omnilink_judge::Complaint;

use crate::args::{AroundArgs, GenArgs, InitArgs};

/// The generated file: of the harness in the directory, or in the directory for a specification that is given.
pub(super) fn target(args: &InitArgs) -> Result<GenArgs, Vec<Complaint>> {
    let around = AroundArgs { config: args.config.clone(), includes: args.includes.clone() };
    let (place, check) = (place(args)?, args.check);
    Ok(GenArgs {
        language: place.language,
        spec: place.spec,
        output: place.output,
        check,
        settings: place.settings,
        around,
    })
}

fn place(args: &InitArgs) -> Result<Place, Vec<Complaint>> {
    let Some(spec) = args.spec.clone() else { return Place::find(&args.directory, args.settings.as_deref()) };
    let (output, settings) = (args.directory.clone(), args.settings.clone());
    Ok(Place { language: language(args)?, spec, output, settings })
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
