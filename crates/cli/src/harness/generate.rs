//! `omnilink init --update` and `--check`: the part of a harness that follows from the next-state relation of a
//! specification.

use std::path::Path;

use anstyle::{AnsiColor, Style};
use omnilink_harness::{Drift, Files, Plan, drift};
use omnilink_init::{files, plan, store};
use omnilink_judge::Complaint;
use omnilink_judge::load::read;
use omnilink_settings::Settings;
use omnilink_suggest::counted;

use crate::args::GenArgs;
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
    let one = |complaint| vec![complaint];
    let (operations, main) = (args.output.join(files.operations_name), args.output.join(files.main_name));
    if operations.exists()
        && matches!(drift(&plan, &read(&operations).map_err(one)?, &files.operations), Some(Drift::Foreign))
    {
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
