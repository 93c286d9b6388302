//! `omnilink spec actions`: the parts of a next-state relation.

use anstyle::Style;
use omnilink_judge::load::load;
use omnilink_tla::program::{Action, LinkOptions, Program};
use serde_json::json;

use super::refuse;
use crate::args::{ActionsArgs, Output};
use crate::exit::Exit;
use crate::terminal::print_complaints;

const SCHEMA: &str = "omnilink.spec-actions/1";

pub(crate) fn run(args: &ActionsArgs) -> Exit {
    let around = args.located.around.around();
    let options = LinkOptions { skip_properties: true, ..LinkOptions::default() };
    let loaded = match load(&args.located.file, &around, options, &[]) {
        Ok(loaded) => loaded,
        Err(complaints) => return refuse(SCHEMA, &complaints, args.located.format),
    };
    let actions = &loaded.program.actions;
    match args.located.format {
        Output::Human => {
            print_complaints(&loaded.warnings);
            for action in actions {
                human(&loaded.program, action);
            }
        }
        Output::Json => {
            let actions: Vec<_> = actions.iter().map(|action| json(&loaded.program, action)).collect();
            let document = json!({ "schema": SCHEMA, "spec": loaded.program.module.name, "actions": actions });
            outln!("{document:#}");
        }
    }
    Exit::Accepted
}

fn human(program: &Program, action: &Action) {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let params: Vec<String> = action.params.iter().map(|(name, words)| format!("{name}: {words}")).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let at = program.module.sources.start(action.site);
    let path = &program.module.sources.get(action.site.source).name;
    outln!("{bold}{}{bold:#}{params}  {dim}{path}:{}:{}{dim:#}", action.name, at.line, at.column);
}

fn json(program: &Program, action: &Action) -> serde_json::Value {
    let at = program.module.sources.start(action.site);
    let params = action.params.iter().map(|(name, words)| json!({ "name": name, "from": words }));
    json!({
        "name": action.name,
        "params": params.collect::<Vec<_>>(),
        "path": program.module.sources.get(action.site.source).name,
        "line": at.line,
        "column": at.column,
    })
}
