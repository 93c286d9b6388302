//! `omnilink init --update` and `--check`: the part of a harness that follows from the next-state relation of a
//! specification.

use std::fs;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use omnilink_harness::{Drift, Files, Plan, cpp, drift, rust};
use omnilink_judge::Complaint;
use omnilink_judge::load::{Around, Parts, read};
use omnilink_settings::Settings;
use omnilink_suggest::counted;
use omnilink_tla::config::{Assignment, Literal, LiteralKind, Meaning};
use omnilink_tla::program::LinkOptions;
use omnilink_tla::value::Value;
use omnilink_tla_syntax::Span;
use omnilink_tla_syntax::ast::Name;

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

/// Writes the generated file, and the one to fill in if it does not exist.
fn write(args: &GenArgs) -> Result<Exit, Vec<Complaint>> {
    let (plan, files) = generate(args)?;
    let (operations, main) = (args.output.join(files.operations_name), args.output.join(files.main_name));
    if operations.exists() && matches!(drift(&plan, &read_one(&operations)?, &files.operations), Some(Drift::Foreign)) {
        let message = format!("{}: this file was edited, or not written by `omnilink init`", operations.display());
        let help = Some("remove it, or write into another directory".to_owned());
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

pub(super) fn read_one(path: &Path) -> Result<String, Vec<Complaint>> {
    read(path).map_err(|complaint| vec![complaint])
}

/// Compares the generated file with a new one.
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
        Drift::Foreign => outln!("  this file was edited, or not written by `omnilink init`"),
    }
    outln!("{bold}help:{bold:#} `{}` writes it again", command(args));
    Ok(Exit::Rejected)
}

fn generate(args: &GenArgs) -> Result<(Plan, Files), Vec<Complaint>> {
    let settings = Settings::read_for(&args.spec, args.settings.as_deref());
    let (settings, _) = settings.map_err(|error| vec![Complaint::of_settings(&error)])?;
    let plan = plan(&args.spec, &args.around.around(), &settings)?;
    let files = files(&plan, args.language);
    Ok((plan, files))
}

/// The two files of a harness.
pub(super) fn files(plan: &Plan, language: Language) -> Files {
    match language {
        Language::Rust => rust::files(plan),
        Language::Cpp => cpp::files(plan),
    }
}

/// Reads a specification and its configuration, and plans its harness.
pub(super) fn plan(spec: &Path, around: &Around, settings: &Settings) -> Result<Plan, Vec<Complaint>> {
    let parts = Parts::read(spec, around)?;
    plan_parts(parts.clone(), settings).map_err(|mut complaints| {
        let config = around.config.clone().unwrap_or_else(|| spec.with_extension("cfg"));
        name_config(&mut complaints, &config);
        suggest_feeds(&mut complaints, parts, settings);
        complaints
    })
}

fn plan_parts(mut parts: Parts, settings: &Settings) -> Result<Plan, Vec<Complaint>> {
    complete(&mut parts, settings);
    let options = LinkOptions { skip_properties: true, ..LinkOptions::default() };
    let program = parts.link(options, &[])?.program;
    let complaint = |problem: &omnilink_validate::Problem| Complaint::of_problem(&program.module.sources, problem);
    Plan::new(&program, settings).map_err(|problems| problems.iter().map(complaint).collect())
}

/// Errors about missing values say in which file they are missing.
fn name_config(complaints: &mut [Complaint], config: &Path) {
    for complaint in complaints.iter_mut().filter(|complaint| complaint.lacks_config) {
        if !config.is_file() {
            complaint.message += &format!(": no `{}` found", config.display());
        }
        let named = format!(" to {}", config.display());
        complaint.help = complaint.help.take().map(|help| help.replace(" to the configuration", &named));
    }
}

/// Errors about constants without a value name the other way to give them one: from the fields of each history.
fn suggest_feeds(complaints: &mut [Complaint], parts: Parts, settings: &Settings) {
    let constant = |complaint: &Complaint| {
        let is_missing = complaint.lacks_config && complaint.message.starts_with("the constant `");
        complaint.message.split('`').nth(1).filter(|_| is_missing).map(str::to_owned)
    };
    let missing: Vec<String> = complaints.iter().filter_map(constant).collect();
    // With all of them taken from histories, the plan says which fields belong to each.
    let mut fed = settings.clone();
    fed.constants.extend(missing.into_iter().map(|name| (name, Vec::new())));
    let Ok(plan) = plan_parts(parts, &fed) else { return };
    for complaint in complaints {
        let Some(name) = constant(complaint) else { continue };
        let feeds: Vec<String> = plan.feeds(&name).iter().map(|feed| format!("\"{feed}\"")).collect();
        if !feeds.is_empty() {
            let line = format!("{name} = [{}]", feeds.join(", "));
            complaint.note =
                Some(format!("its values can be those of each history: `{line}` under `[constants]` in omnilink.toml"));
        }
    }
}

/// Fills in what a configuration may leave to the trace: the behavior, and constants that have no value yet.
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

/// Writes a file, and creates its directories.
pub(super) fn store(path: &Path, text: &str) -> Result<(), Vec<Complaint>> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(parent).and_then(|()| omnilink_explore::write_file(path, text));
    written.map_err(|error| vec![Complaint::new(format!("{}: {error}", path.display()))])
}

fn command(args: &GenArgs) -> String {
    let language = args.language.name();
    let output = match args.output.as_path() {
        here if here == Path::new(".") || here == Path::new("") => String::new(),
        directory => format!("{} ", directory.display()),
    };
    let files = [("--settings", &args.settings), ("--config", &args.around.config)];
    let files = files.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)));
    let files = files.chain(args.around.includes.iter().map(|directory| ("--include", directory)));
    let files: String = files.map(|(option, file)| format!(" {option} {}", file.display())).collect();
    format!("omnilink init {output}--update --lang {language} --spec {}{files}", args.spec.display())
}

pub(super) fn counts(plan: &Plan) -> String {
    let outcomes: usize = plan.calls.iter().map(|call| call.outcomes.len()).sum();
    let (calls, outcomes) = (counted(plan.calls.len() as u64, "call"), counted(outcomes as u64, "outcome"));
    let mut text = format!("{calls} with {outcomes}");
    if !plan.unsupported.is_empty() {
        let left_out: Vec<&str> = plan.unsupported.iter().map(|left_out| left_out.action.as_str()).collect();
        text.push_str(&format!(", without {}", left_out.join(", ")));
    }
    text
}
