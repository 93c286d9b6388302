//! `omnilink gen`: a harness from the next-state relation of a specification.

use std::fs;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use harness::{Drift, Files, Plan, cpp, drift, rust};
use judge::Complaint;
use judge::load::{Around, Parts, read};
use settings::Settings;
use tla::config::{Assignment, Literal, LiteralKind, Meaning};
use tla::program::Options;
use tla::value::Value;
use tla_syntax::Span;
use tla_syntax::ast::Name;

use crate::args::{GenArgs, Language};
use crate::exit::Exit;
use crate::terminal::print_complaints;

pub(crate) fn run(args: &GenArgs) -> Exit {
    let outcome = match args.check {
        true => check(args),
        false => write(args),
    };
    outcome.unwrap_or_else(|complaints| {
        print_complaints(&complaints);
        Exit::Wrong
    })
}

/// Writes the generated file, and the one to be filled in if there is none.
fn write(args: &GenArgs) -> Result<Exit, Vec<Complaint>> {
    let (plan, files) = generate(args)?;
    let (operations, main) = (args.output.join(files.operations_name), args.output.join(files.main_name));
    if operations.exists() && matches!(drift(&plan, &read_one(&operations)?, &files.operations), Some(Drift::Foreign)) {
        let message =
            format!("{}: `omnilink gen` did not write this file, or somebody edited it", operations.display());
        let help = Some("remove it, or write elsewhere with `-o`".to_owned());
        return Err(vec![Complaint { help, ..Complaint::new(message) }]);
    }
    store(&operations, &files.operations)?;
    outln!("wrote {}: {}", operations.display(), counts(&plan));
    if main.exists() {
        outln!("kept {}", main.display());
    } else {
        store(&main, &files.main)?;
        outln!("wrote {}: fill in the functions that say `todo`", main.display());
    }
    Ok(Exit::Accepted)
}

fn read_one(path: &Path) -> Result<String, Vec<Complaint>> {
    read(path).map_err(|complaint| vec![complaint])
}

/// Writes the generated file alone.
pub(super) fn store_operations(args: &GenArgs) -> Result<(), Vec<Complaint>> {
    let (_, files) = generate(args)?;
    store(&args.output.join(files.operations_name), &files.operations)
}

/// Compares the generated file with what would be written.
fn check(args: &GenArgs) -> Result<Exit, Vec<Complaint>> {
    let (plan, files) = generate(args)?;
    let path = args.output.join(files.operations_name);
    let written = read(&path).map_err(|mut complaint| {
        complaint.help = Some(format!("`{}` writes it", command(args)));
        vec![complaint]
    })?;
    let Some(drift) = drift(&plan, &written, &files.operations) else {
        outln!("{}: up to date with {}, {}", path.display(), plan.spec, counts(&plan));
        return Ok(Exit::Accepted);
    };
    let (bold, red) = (Style::new().bold(), AnsiColor::Red.on_default());
    outln!("{bold}{}{bold:#}: {red}drifted{red:#} from {}", path.display(), plan.spec);
    match drift {
        Drift::Calls(sentences) => sentences.iter().for_each(|sentence| outln!("  {sentence}")),
        Drift::Code => outln!(
            "  the calls are the same; weights, values, places in the specification, omnilink or the file itself changed"
        ),
        Drift::Foreign => outln!("  `omnilink gen` did not write this file, or somebody edited it"),
    }
    outln!("{bold}help:{bold:#} `{}` writes it again", command(args));
    Ok(Exit::Rejected)
}

fn generate(args: &GenArgs) -> Result<(Plan, Files), Vec<Complaint>> {
    let plan = plan(&args.spec, &args.around.around(), args.settings.as_deref())?;
    let files = match args.language {
        Language::Rust => rust::files(&plan),
        Language::Cpp => cpp::files(&plan),
    };
    Ok((plan, files))
}

/// Reads a specification and what stands beside it, and plans its harness.
fn plan(spec: &Path, around: &Around, settings: Option<&Path>) -> Result<Plan, Vec<Complaint>> {
    let (settings, _) = Settings::read_for(spec, settings).map_err(|error| vec![Complaint::of_settings(&error)])?;
    let mut parts = Parts::read(spec, around)?;
    complete(&mut parts, &settings);
    let options = Options { skip_properties: true, ..Options::default() };
    let program = parts.link(options, &[])?.program;
    let complaint = |problem: &validate::Problem| Complaint::of_problem(&program.module.sources, problem);
    Plan::new(&program, &settings).map_err(|problems| problems.iter().map(complaint).collect())
}

/// Says what a configuration may leave to the recording: what behaves, and constants of which nothing is known yet.
fn complete(parts: &mut Parts, settings: &Settings) {
    let named = |name: &str| Name { text: name.to_owned(), span: Span::default() };
    let config = &mut parts.config;
    if config.init.is_none() && config.next.is_none() && config.specification.is_none() {
        let is_defined = |name: &str| parts.module.names.contains_key(name);
        match is_defined("Next") {
            true => (config.init, config.next) = (Some(named("Init")), Some(named("Next"))),
            false => config.specification = Some(named("Spec")),
        }
    }
    for name in settings.constants.keys() {
        let is_given = config.constants.iter().any(|constant| constant.name.text == *name);
        if !is_given && parts.module.names.contains_key(name) {
            let span = Span::default();
            let meaning = Meaning::Value(Literal { kind: LiteralKind::Computed(Value::empty_set()), span });
            config.constants.push(Assignment { name: named(name), module: None, args: None, meaning, span });
        }
    }
}

/// Writes a file, and the directories around it if they are not there.
pub(super) fn store(path: &Path, text: &str) -> Result<(), Vec<Complaint>> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(parent).and_then(|()| explore::write_file(path, text));
    written.map_err(|error| vec![Complaint::new(format!("{}: {error}", path.display()))])
}

fn command(args: &GenArgs) -> String {
    let language = match args.language {
        Language::Rust => "rust",
        Language::Cpp => "cpp",
    };
    let output = match args.output.as_path() {
        here if here == Path::new(".") => String::new(),
        directory => format!(" -o {}", directory.display()),
    };
    let files = [("--settings", &args.settings), ("--config", &args.around.config)];
    let files = files.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)));
    let files = files.chain(args.around.includes.iter().map(|directory| ("--include", directory)));
    let files: String = files.map(|(option, file)| format!(" {option} {}", file.display())).collect();
    format!("omnilink gen {language} {}{output}{files}", args.spec.display())
}

fn counts(plan: &Plan) -> String {
    let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let outcomes = plan.calls.iter().map(|call| call.outcomes.len()).sum();
    let mut text = format!("{} with {}", count(plan.calls.len(), "call"), count(outcomes, "outcome"));
    if !plan.unsupported.is_empty() {
        let left_out: Vec<&str> = plan.unsupported.iter().map(|left_out| left_out.action.as_str()).collect();
        text.push_str(&format!(", without {}", left_out.join(", ")));
    }
    text
}
