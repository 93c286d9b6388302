//! `omnilink init`: a project with a specification, a harness, and a small system that works.
//!
//! Existing files are never overwritten: either all files are written, or none.

use std::path::Path;

use judge::Complaint;

use super::generate;
use super::template::Project;
use crate::args::{AroundArgs, GenArgs, InitArgs, Language};
use crate::exit::Exit;
use crate::terminal::print_complaints;

pub(crate) fn run(args: &InitArgs) -> Exit {
    match set_up(args) {
        Ok(()) => Exit::Accepted,
        Err(complaints) => {
            print_complaints(&complaints);
            Exit::Wrong
        }
    }
}

fn set_up(args: &InitArgs) -> Result<(), Vec<Complaint>> {
    let project = Project { template: args.template, language: args.lang, ci: args.ci };
    let files = project.files();
    let operations = match args.lang {
        Language::Rust => "src/operations.rs",
        Language::Cpp => "operations.hpp",
    };
    let paths = files.iter().map(|(path, _)| path.as_str()).chain([operations]);
    let there: Vec<&str> = paths.filter(|path| args.directory.join(path).exists()).collect();
    if !there.is_empty() {
        let mut complaint = Complaint::new(format!(
            "{} has files that would be overwritten: {}",
            args.directory.display(),
            there.join(", ")
        ));
        complaint.help = Some("name a directory that has none of them: `omnilink init DIR`".to_owned());
        return Err(vec![complaint]);
    }
    for (path, text) in &files {
        generate::store(&args.directory.join(path), text)?;
    }
    let generated = GenArgs {
        language: args.lang,
        spec: args.directory.join(format!("{}.tla", project.module())),
        output: args.directory.clone(),
        check: false,
        settings: None,
        around: AroundArgs { config: None, includes: Vec::new() },
    };
    generate::store_operations(&generated)?;
    say_what_next(&args.directory, project);
    Ok(())
}

fn say_what_next(directory: &Path, project: Project) {
    let main = match project.language {
        Language::Rust => "src/main.rs",
        Language::Cpp => "main.cpp",
    };
    let enter = if directory == Path::new(".") { String::new() } else { format!("cd {} && ", directory.display()) };
    outln!("1. `{enter}omnilink fuzz` runs the small system in {main} and checks what it does.");
    outln!("2. Put your own system into {main}: replace what is marked with a number.");
    let (language, module) = (project.language_name(), project.module());
    outln!("3. `omnilink gen {language} {module}.tla` writes the harness again when {module}.tla changes.");
}
