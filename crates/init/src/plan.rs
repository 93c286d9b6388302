//! The generated part of a harness, from a specification, its configuration and its settings.

use std::fs;
use std::path::Path;

use omnilink_harness::{Files, Plan, cpp, rust};
use omnilink_judge::Complaint;
use omnilink_judge::load::{Around, Parts};
use omnilink_settings::Settings;
use omnilink_tla::config::{Assignment, Literal, LiteralKind, Meaning};
use omnilink_tla::program::LinkOptions;
use omnilink_tla::value::Value;
use omnilink_tla_syntax::Span;
use omnilink_tla_syntax::ast::Name;

use crate::kind::Language;

/// The two files of a harness.
pub fn files(plan: &Plan, language: Language) -> Files {
    match language {
        Language::Rust => rust::files(plan),
        Language::Cpp => cpp::files(plan),
    }
}

/// Reads a specification and its configuration, and plans its harness.
pub fn plan(spec: &Path, around: &Around, settings: &Settings) -> Result<Plan, Vec<Complaint>> {
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
    let sources = &program.module.sources;
    Plan::new(&program, settings)
        .map_err(|problems| problems.iter().map(|problem| Complaint::of_problem(sources, problem)).collect())
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
pub fn store(path: &Path, text: &str) -> Result<(), Vec<Complaint>> {
    let parent = path.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(parent).and_then(|()| omnilink_explore::write_file(path, text));
    written.map_err(|error| vec![Complaint::new(format!("{}: {error}", path.display()))])
}
