//! `omnilink init`: a harness for a specification, in an existing project or a new one, and its removal.
//!
//! Existing files are never overwritten: either all files are written, or none. A list of what was written is kept in the
//! project, so that `--undo` removes that and nothing else.

use std::path::Path;

use omnilink_harness::unfilled;
use omnilink_judge::Complaint;
use omnilink_judge::load::Around;
use omnilink_settings::Settings;

use super::adopt::{self, Adoption};
use super::generate;
use super::manifest::{self, Created, Manifest};
use super::setup::SCHEMA_FILE;
use super::template::{Project, TextFile};
use super::update;
use crate::args::{InitArgs, Language, Template};
use crate::exit::Exit;
use crate::log;
use crate::terminal::print_complaints;

pub(crate) fn run(args: &InitArgs) -> Exit {
    let other = match &args.log {
        Some(log) => {
            Some(adopt::find_spec(args).map(|spec| log::infer(&spec, log, args.header)).map_err(|error| vec![error]))
        }
        None if args.update || args.check => Some(update::target(args).map(|target| generate::run(&target))),
        None => None,
    };
    if let Some(other) = other {
        return other.unwrap_or_else(|complaints| {
            print_complaints(&complaints);
            Exit::Wrong
        });
    }
    let outcome = match (args.undo, args.template) {
        (true, _) => manifest::undo(&args.directory, args.keep_edited).map(|lines| {
            lines.iter().for_each(|line| outln!("{line}"));
        }),
        (false, Some(template)) => set_up_template(args, template),
        (false, None) => set_up(args),
    };
    match outcome {
        Ok(()) => Exit::Accepted,
        Err(complaints) => {
            print_complaints(&complaints);
            Exit::Wrong
        }
    }
}

/// Adds a harness to a project, or a file for CI to one that has a harness.
fn set_up(args: &InitArgs) -> Result<(), Vec<Complaint>> {
    if let Some((path, text)) = adopt::ci_of_existing(args)? {
        let created = [(path, text)];
        refuse_existing(&args.directory, &created, "remove it, or add the commands by hand")?;
        let [(path, text)] = created;
        let mut written = Manifest::read_or_new(&args.directory)?;
        generate::store(&args.directory.join(&path), &text)?;
        written.created.push(Created::new(&path, &text));
        written.write(&args.directory)?;
        outln!("created {path}: checks the harness that is there, and fuzzes the system");
        return Ok(());
    }
    let Adoption { language, plan, created, changed, built, main, remarks } = adopt::adopt(args)?;
    refuse_existing(&args.directory, &created, "`omnilink init --undo` removes what an earlier one wrote")?;
    let mut written = Manifest { built, ..Manifest::default() };
    for (path, text) in &created {
        generate::store(&args.directory.join(path), text)?;
        written.created.push(Created::new(path, text));
    }
    let functions = created.iter().find(|(path, _)| *path == main).map(|(_, text)| unfilled(text)).unwrap_or_default();
    tell_created(&created, &main, &functions);
    for ((path, text), change) in changed {
        generate::store(&args.directory.join(&path), &text)?;
        outln!("changed {path}: {}", added_lines(&change.added));
        written.changed.push(change);
    }
    written.write(&args.directory)?;
    outln!("created {}: the list of all this, for `omnilink init --undo`", manifest::FILE);
    outln!("\n{} has {}.", plan.spec, generate::counts(&plan));
    remarks.iter().for_each(|remark| outln!("{remark}"));
    let enter = enter(&args.directory);
    let example = match language {
        Language::Rust => "one call of your system each",
        Language::Cpp => "each makes one call of your system",
    };
    outln!("1. Fill in the functions in {main} that say `todo`: {example}.");
    outln!("2. `{enter}omnilink fuzz` builds the harness, runs it, and checks every run.");
    Ok(())
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

/// An error if one of the files exists.
fn refuse_existing(directory: &Path, files: &[TextFile], help: &str) -> Result<(), Vec<Complaint>> {
    let paths = files.iter().map(|(path, _)| path.as_str());
    let there: Vec<&str> = paths.filter(|path| directory.join(path).exists()).collect();
    if there.is_empty() {
        return Ok(());
    }
    let message = format!("{} has files that would be overwritten: {}", directory.display(), there.join(", "));
    Err(vec![Complaint { help: Some(help.to_owned()), ..Complaint::new(message) }])
}

/// Writes a new project with a small system that works.
fn set_up_template(args: &InitArgs, template: Template) -> Result<(), Vec<Complaint>> {
    let language = args.lang.unwrap_or(Language::Rust);
    let project = Project { template, language, ci: args.ci };
    let mut files = project.files();
    files.push((SCHEMA_FILE.to_owned(), omnilink_settings::json_schema()));
    let operations = language.generated();
    let mut all = files.clone();
    all.push((operations.to_owned(), String::new()));
    refuse_existing(&args.directory, &all, "name a directory that has none of them: `omnilink init DIR`")?;
    for (path, text) in &files {
        generate::store(&args.directory.join(path), text)?;
    }
    // The generated file is not part of a template: it follows from the specification, which is a file now.
    let spec = args.directory.join(format!("{}.tla", project.module()));
    let (settings, _) = Settings::read_for(&spec, None).map_err(|error| vec![Complaint::of_settings(&error)])?;
    let plan = generate::plan(&spec, &Around::default(), &settings)?;
    let generated = generate::files(&plan, language);
    generate::store(&args.directory.join(operations), &generated.operations)?;
    files.push((operations.to_owned(), generated.operations));
    let built: &[&str] = match language {
        Language::Rust => &["Cargo.lock", "target/release", "target/omnilink-sched"],
        Language::Cpp => &["harness", "target/omnilink-sched"],
    };
    let created = files.iter().map(|(path, text)| Created::new(path, text)).collect();
    let built = built.iter().map(|path| (*path).to_owned()).collect();
    Manifest { created, changed: Vec::new(), built }.write(&args.directory)?;
    say_what_next(&args.directory, project);
    Ok(())
}

fn enter(directory: &Path) -> String {
    if directory == Path::new(".") { String::new() } else { format!("cd {} && ", directory.display()) }
}

fn say_what_next(directory: &Path, project: Project) {
    let main = match project.language {
        Language::Rust => "src/main.rs",
        Language::Cpp => "main.cpp",
    };
    let enter = enter(directory);
    outln!("1. `{enter}omnilink fuzz` runs the small system in {main} and checks what it does.");
    outln!("2. Put your own system into {main}: replace what is marked with a number.");
    let module = project.module();
    outln!("3. `omnilink init --update` writes the harness again when {module}.tla changes.");
}
