//! `omnilink init`: a harness for a specification, in an existing project or a new one, and its removal.

use std::path::Path;

use omnilink_harness::unfilled;
use omnilink_init::{Adoption, Language, MANIFEST, Options, Project, TextFile, add_ci, adopt, find_spec, undo};
use omnilink_judge::Complaint;

use super::{generate, update};
use crate::args::InitArgs;
use crate::exit::Exit;
use crate::log;
use crate::terminal::print_complaints;

pub(crate) fn run(args: &InitArgs) -> Exit {
    match write(args) {
        Ok(exit) => exit,
        Err(complaints) => {
            print_complaints(&complaints);
            Exit::Wrong
        }
    }
}

fn write(args: &InitArgs) -> Result<Exit, Vec<Complaint>> {
    let InitArgs { directory, spec, lang, ci, .. } = args;
    let options = Options { directory, spec: spec.as_deref(), language: *lang, ci: *ci };
    if let Some(log) = &args.log {
        let spec = find_spec(directory, options.spec).map_err(|complaint| vec![complaint])?;
        return Ok(log::infer(&spec, log, args.header));
    }
    if args.update || args.check {
        return Ok(generate::run(&update::target(args)?));
    }
    match args.template {
        _ if args.undo => undo(directory, args.keep_edited)?.iter().for_each(|line| outln!("{line}")),
        Some(template) => {
            let project = Project { template, language: lang.unwrap_or(Language::Rust), ci: *ci };
            project.write(directory)?;
            say_what_next(directory, project);
        }
        None => match add_ci(&options)? {
            Some(path) => outln!("created {path}: checks the harness that is there, and fuzzes the system"),
            None => {
                let adoption = adopt(&options)?;
                adoption.write(directory)?;
                tell_adoption(directory, &adoption);
            }
        },
    }
    Ok(Exit::Accepted)
}

/// Prints the files of a harness, and what is left to do.
fn tell_adoption(directory: &Path, adoption: &Adoption) {
    let Adoption { language, plan, created, changed, main, remarks, .. } = adoption;
    let functions = created.iter().find(|(path, _)| path == main).map(|(_, text)| unfilled(text)).unwrap_or_default();
    tell_created(created, main, &functions);
    for ((path, _), change) in changed {
        outln!("changed {path}: {}", added_lines(&change.added));
    }
    outln!("created {MANIFEST}: the list of all this, for `omnilink init --undo`");
    outln!("\n{} has {}.", plan.spec, generate::counts(plan));
    remarks.iter().for_each(|remark| outln!("{remark}"));
    let enter = enter(directory);
    let example = match language {
        Language::Rust => "one call of your system each",
        Language::Cpp => "each makes one call of your system",
    };
    outln!("1. Fill in the functions in {main} that say `todo`: {example}.");
    outln!("2. `{enter}omnilink fuzz` builds the harness, runs it, and checks every run.");
}

/// Prints a line for each file; the files of a directory that is ours alone share one.
fn tell_created(created: &[TextFile], main: &str, functions: &[String]) {
    let mut directories: Vec<(&str, usize)> = Vec::new();
    for (path, _) in created {
        let ours = ["omnilink/record/", "omnilink/include/omnilink/", "include/omnilink/"];
        if let Some(directory) = ours.into_iter().find(|directory| path.starts_with(directory)) {
            match directories.iter_mut().find(|(known, _)| *known == directory) {
                Some((_, count)) => *count += 1,
                None => directories.push((directory, 1)),
            }
            continue;
        }
        match path {
            path if path == main => outln!("created {path}: to fill in ({})", functions.join(", ")),
            path if path.contains("operations.") => outln!("created {path}: generated, do not edit"),
            path => outln!("created {path}"),
        }
    }
    directories.iter().for_each(|(directory, count)| outln!("created {directory}: the recorder, {count} files"));
}

fn added_lines(added: &[String]) -> String {
    let count: usize = added.iter().map(|added| added.trim().lines().count()).sum();
    format!("{} added", omnilink_suggest::counted(count as u64, "line"))
}

fn enter(directory: &Path) -> String {
    if directory == Path::new(".") { String::new() } else { format!("cd {} && ", directory.display()) }
}

fn say_what_next(directory: &Path, project: Project) {
    let (main, module, enter) = (project.language.main(), project.module(), enter(directory));
    outln!("1. `{enter}omnilink fuzz` runs the small system in {main} and checks what it does.");
    outln!("2. Put your own system into {main}: replace what is marked with a number.");
    outln!("3. `omnilink init --update` writes the harness again when {module}.tla changes.");
}
