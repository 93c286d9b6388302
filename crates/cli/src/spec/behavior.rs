//! Behaviors in files: histories that `omnilink check` reads, traces in the Informal Trace Format, and scripts.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use omnilink_explore::{Script, ScriptedCall};
use omnilink_harness::{Lost, Plan, StepReader};
use omnilink_history::format::jsonl::{write_fields_of, write_value_of};
use omnilink_judge::{Complaint, HostWorld};
use omnilink_settings::Settings;
use omnilink_suggest::counted;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::Program;
use omnilink_tla::reach::{BehaviorStep, Verdict};
use omnilink_validate::recorded;
use serde_json::{Map, Value, json};

use super::show;
use crate::args::{BehaviorForm, SpecSimulateArgs};
use crate::files;
use crate::inspection::Values;

/// The name of the file with the behavior that ends with a violation or an error.
const VIOLATION: &str = "violation";

/// The directory that behaviors are written to, if there is one.
pub(super) struct Files<'a> {
    directory: Option<PathBuf>,
    form: BehaviorForm,
    program: &'a Program,
    source: String,
    values: Values,
    /// Reads steps as calls, for scripts.
    steps: Option<StepReader<'a>>,
    /// The number of files, or why one could not be written.
    written: Result<u64, String>,
}

impl<'a> Files<'a> {
    /// Creates the directory. Steps of the specification are calls of this plan, if they are written as scripts.
    pub(super) fn new(
        args: &SpecSimulateArgs,
        program: &'a Program,
        calls: Option<&'a Calls>,
    ) -> Result<Files<'a>, Complaint> {
        if let Some(directory) = &args.output {
            let cannot = |error| Complaint::new(format!("`{}` cannot be written: {error}", directory.display()));
            fs::create_dir_all(directory).map_err(cannot)?;
            if fs::read_dir(directory).map_err(cannot)?.next().is_some() {
                return Err(Complaint::new(format!("`{}` is not empty: name a new directory", directory.display())));
            }
        }
        let source = args.states.located.file.display().to_string();
        let (directory, form) = (args.output.clone(), args.to);
        let steps = calls.map(|calls| calls.reader(program)).transpose()?;
        Ok(Files { directory, form, program, source, values: Values::default(), steps, written: Ok(0) })
    }

    /// Writes a behavior. After an error, nothing more is written.
    pub(super) fn keep(&mut self, name: &str, behavior: &[BehaviorStep]) {
        let (Some(directory), Ok(count)) = (&self.directory, &self.written) else { return };
        let count = count + 1;
        let (path, text) = match self.form {
            BehaviorForm::Jsonl => (directory.join(format!("{name}.jsonl")), history(self.program, behavior)),
            BehaviorForm::Itf => {
                let text = itf(self.program, &self.source, name, behavior, &mut self.values);
                (directory.join(format!("{name}.itf.json")), Ok(text))
            }
            BehaviorForm::Script => {
                // Invariant: with this form, `Calls` were given.
                let steps = self.steps.as_mut().expect("there is a reader of steps");
                (directory.join(format!("{name}.script")), script(steps, behavior))
            }
        };
        let written = text.and_then(|text| files::write(&path, &text).map_err(|error| error.message));
        self.written = written.map(|()| count).map_err(|error| format!("`{}`: {error}", path.display()));
    }

    /// Writes the behavior of a verdict, if it has one. Returns a sentence about the files, if there are any.
    pub(super) fn finish(mut self, verdict: &Verdict) -> Result<Option<String>, Complaint> {
        if let Some(trace) = show::trace(verdict) {
            self.keep(VIOLATION, trace);
        }
        let count = self.written.map_err(Complaint::new)?;
        Ok(self.directory.map(|directory| format!("wrote {} to {}", counted(count, "file"), directory.display())))
    }
}

/// A behavior as a history: one process, an operation for each step, and the state after it as a note.
fn history(program: &Program, behavior: &[BehaviorStep]) -> Result<String, String> {
    let strings = &program.module.strings;
    let mut text = String::new();
    for (index, step) in behavior.iter().enumerate() {
        let state: Vec<(Arc<str>, _)> = program
            .module
            .variables
            .iter()
            .zip(step.state.iter())
            .map(|(variable, value)| (Arc::from(variable.name.as_str()), recorded(value, strings)))
            .collect();
        let Some(label) = &step.label else {
            // A line that begins with `#` is skipped by readers.
            let state = omnilink_history::Value::record(state.iter().map(|(name, value)| (&**name, value.clone())));
            let state = state.ok_or("the specification has no variable")?;
            text.push_str(&format!("# the first state: {}\n", write_value_of(&state)?));
            continue;
        };
        let names: Vec<Arc<str>> = label.args.iter().map(|(name, _)| Arc::from(name.as_str())).collect();
        let values: Vec<_> = label.args.iter().map(|(_, value)| recorded(value, strings)).collect();
        let (state_names, state_values): (Vec<_>, Vec<_>) = state.into_iter().unzip();
        let line = format!(
            "{{\"process\": \"spec\", \"action\": {}, \"args\": {}, \"start\": {}, \"end\": {}, \"meta\": {{\"state\": {}}}}}\n",
            json!(label.name),
            write_fields_of(&names, &values)?,
            2 * index - 1,
            2 * index,
            write_fields_of(&state_names, &state_values)?,
        );
        text.push_str(&line);
    }
    Ok(text)
}

/// The calls of a specification, which the lines of a script name.
pub(super) struct Calls {
    plan: Plan,
    settings: Settings,
}

impl Calls {
    /// Reads the calls, if behaviors are written as scripts.
    pub(super) fn of(args: &SpecSimulateArgs) -> Result<Option<Calls>, Vec<Complaint>> {
        if args.output.is_none() || !matches!(args.to, BehaviorForm::Script) {
            return Ok(None);
        }
        let (file, around) = (&args.states.located.file, &args.states.located.around);
        let (settings, _) = Settings::read_for(file, None).map_err(|error| vec![Complaint::of_settings(&error)])?;
        Ok(Some(Calls { plan: omnilink_init::plan(file, &around.around(), &settings)?, settings }))
    }

    fn reader<'a>(&'a self, program: &'a Program) -> Result<StepReader<'a>, Complaint> {
        let mut machine = Machine::new(program, Box::new(HostWorld::new(|line| errln!("{line}"))));
        let mut initial = Vec::new();
        let evaluated = machine.initial_states(&mut initial).map_err(Lost::from);
        let reader = evaluated.and_then(|()| StepReader::new(&mut machine, &initial, &self.plan, &self.settings));
        reader.map_err(|lost| match lost {
            Lost::Evaluation(error) => Complaint::of_evaluation(program, &error),
            other => Complaint::new(other.to_string()),
        })
    }
}

/// The calls of a behavior, without their results.
fn script(steps: &mut StepReader<'_>, behavior: &[BehaviorStep]) -> Result<String, String> {
    let mut script = Script::default();
    for label in behavior.iter().filter_map(|step| step.label.as_ref()) {
        if let Some(step) = steps.read(label).map_err(|lost| lost.to_string())? {
            let thread = steps.thread(&step.input);
            let call = steps.completed(step.input).to_string();
            script.calls.push(ScriptedCall { thread, call, line: 0 });
        }
    }
    Ok(script.to_string())
}

/// A behavior in the Informal Trace Format, with the names that Quint gives to the action and its arguments.
fn itf(program: &Program, source: &str, name: &str, behavior: &[BehaviorStep], values: &mut Values) -> String {
    let strings = &program.module.strings;
    let variables = &program.module.variables;
    let mut shown = |value: &omnilink_tla::value::Value| {
        let text = value.display(strings).to_string();
        values.read(&text).unwrap_or_else(|| json!({ "#unserializable": text }))
    };
    let mut states = Vec::new();
    for (index, step) in behavior.iter().enumerate() {
        let mut state = Map::from_iter([("#meta".to_owned(), json!({ "index": index }))]);
        for (variable, value) in variables.iter().zip(step.state.iter()) {
            state.insert(variable.name.clone(), shown(value));
        }
        let args = step.label.iter().flat_map(|label| &label.args);
        let picks: Map<String, Value> =
            args.map(|(name, value)| (name.clone(), json!({ "tag": "Some", "value": shown(value) }))).collect();
        let action = step.label.as_ref().map_or("init", |label| &label.name);
        state.insert("mbt::actionTaken".into(), action.into());
        state.insert("mbt::nondetPicks".into(), picks.into());
        states.push(Value::Object(state));
    }
    let names = variables.iter().map(|variable| variable.name.as_str());
    let document = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": source,
            "description": name,
        },
        "vars": names.chain(["mbt::actionTaken", "mbt::nondetPicks"]).collect::<Vec<_>>(),
        "states": states,
    });
    format!("{document:#}\n")
}
