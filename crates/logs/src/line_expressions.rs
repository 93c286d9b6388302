//! Expressions over the lines of a log alone: which lines are events, and the values of constants.
//!
//! They are evaluated before the specification is linked, because constants are part of it. So they are resolved in a
//! module of their own, which extends the standard modules.

use omnilink_history::format::json::Json;
use omnilink_settings::log::{self, Constant, Form, Text};
use omnilink_tla::config::Config;
use omnilink_tla::datum::World;
use omnilink_tla::ir::{DefId, Module};
use omnilink_tla::machine::{At, Machine};
use omnilink_tla::program::{LinkOptions, link};
use omnilink_tla::resolve::{Excerpt, Loader, resolve, resolve_operator};
use omnilink_tla::strings::Strings;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;

use crate::line::{Line, Lines};
use crate::path::Path;
use crate::problem::Failure;
use crate::values::{Values, carry, intern};

/// The modules that expressions may use.
const TEXT: &str = "---- MODULE Log ----\nEXTENDS Integers, Sequences, FiniteSets, TLC, SequencesExt, Functions\n====";

struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

struct NoWorld;

impl World for NoWorld {}

/// Evaluates expressions over lines.
pub(crate) struct Prelude<'a> {
    module: Module,
    file: &'a str,
    name: &'a str,
    excerpt: Excerpt,
}

impl<'a> Prelude<'a> {
    /// Prepares to evaluate expressions of a settings file.
    pub(crate) fn new(file: &'a str, name: &'a str) -> Result<Prelude<'a>, Failure> {
        let mut module = resolve("Log", TEXT, &mut NoFiles, Strings::default())?;
        let source = module.sources.add(name, file);
        Ok(Prelude { module, file, name, excerpt: Excerpt { source, offset: 0 } })
    }

    /// Removes the lines that are not events.
    pub(crate) fn filter(&self, filter: &Text, lines: &mut Lines) -> Result<(), Failure> {
        let mut kept = Vec::new();
        let all = std::mem::take(&mut lines.lines);
        self.with_operator(filter, &["e"], &all, |machine, def, values| {
            for line in &all {
                let value = values.translate(&line.json, &machine.program().module.strings);
                match machine.apply_operator(def, &[value], At::Nowhere) {
                    Ok(Value::Bool(truth)) => kept.push(truth),
                    // The filter does not mean a line without the field.
                    Err(error) if error.kind == omnilink_tla::error::ErrorKind::OutsideDomain => kept.push(false),
                    Ok(_) => return Err(Problem::new("`where` is neither TRUE nor FALSE").into()),
                    Err(error) => {
                        return Err(Failure::Evaluation { error, note: Some(format!("line {}", line.number)) });
                    }
                }
            }
            Ok(())
        })?;
        lines.lines = all.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(line, _)| line).collect();
        Ok(())
    }

    /// Evaluates an expression over `first` and `log`, and carries its value to another table of strings.
    fn constant(&self, text: &Text, events: &[&Json], lines: &[Line], to: &mut Strings) -> Result<Value, Failure> {
        self.with_operator(text, &["first", "log"], lines, |machine, def, values| {
            let strings = &machine.program().module.strings;
            let all: Vec<Value> = events.iter().map(|event| values.translate(event, strings)).collect();
            let first = all.first().cloned().unwrap_or_else(Value::empty_seq);
            let value = machine.apply_operator(def, &[first, Value::seq(all)], At::Nowhere)?;
            Ok(carry(&value, &machine.program().module.strings, to))
        })
    }

    fn with_operator<R>(
        &self,
        text: &Text,
        params: &[&str],
        lines: &[Line],
        work: impl FnOnce(&mut Machine<'_>, DefId, &Values) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut module = self.module.clone();
        let excerpt = match text.offset(self.file) {
            Some(offset) => Excerpt { offset: u32::try_from(offset).unwrap_or_default(), ..self.excerpt },
            None => Excerpt { source: module.sources.add(self.name, text.text.clone()), offset: 0 },
        };
        let def = resolve_operator(&mut module, params, &text.text, excerpt)?;
        lines.iter().for_each(|line| intern(&line.json, &mut module.strings));
        let options = LinkOptions { without_behavior: true, ..LinkOptions::default() };
        let program = link(module, &Config::default(), options).map_err(|errors| {
            Problem::new(errors.errors.first().map_or(String::new(), |error| error.message.clone()))
        })?;
        let mut machine = Machine::new(&program, Box::new(NoWorld));
        work(&mut machine, def, &Values::default())
    }

    /// The values of constants.
    pub(crate) fn constants(
        &self,
        settings: &log::Log,
        lines: &Lines,
        beside: &mut dyn FnMut(&str) -> Result<String, String>,
        values: &Values,
        strings: &mut Strings,
    ) -> Result<Vec<(String, Value)>, Failure> {
        let root = settings.root.as_ref().and_then(|root| Path::parse(&root.text));
        let event = |line: &'_ Line| -> Option<Json> {
            root.as_ref().map_or(Some(&line.json), |root| root.find(&line.json)).cloned()
        };
        let events: Vec<Json> = lines.lines.iter().filter_map(event).collect();
        let mut given = Vec::new();
        for (name, constant) in &settings.constants {
            let value = match constant {
                Constant::Expression(text) => {
                    let events: Vec<&Json> = events.iter().collect();
                    self.constant(text, &events, &lines.lines, strings)?
                }
                Constant::Source { file, header, field, all, also, form, .. } => {
                    let wrong = |message: String| Problem::new(format!("the constant `{}`: {message}", name.text));
                    let form = form.as_deref().map(Form::by_name).transpose().map_err(wrong)?;
                    let source =
                        ConstantSource { file: file.as_deref(), header: header.as_deref(), field: field.as_deref() };
                    let found = source.find(lines, &events, *all, also, beside).map_err(wrong)?;
                    for json in &found {
                        intern(json, strings);
                    }
                    let mut translated = found.iter().map(|json| values.translate(json, strings));
                    match (*all || !also.is_empty(), form) {
                        (true, _) => Value::set(translated.collect()).map_err(|error| wrong(error.message))?,
                        (false, form) => {
                            let value = translated.next().ok_or_else(|| wrong("no value was found".into()))?;
                            match form {
                                Some(form) => values.shaped(value, form, strings).map_err(wrong)?,
                                None => value,
                            }
                        }
                    }
                }
            };
            given.push((name.text.clone(), value));
        }
        Ok(given)
    }
}

/// The fields that a constant is taken from.
struct ConstantSource<'a> {
    file: Option<&'a str>,
    header: Option<&'a str>,
    field: Option<&'a str>,
}

impl ConstantSource<'_> {
    fn find(
        &self,
        lines: &Lines,
        events: &[Json],
        all: bool,
        also: &[String],
        beside: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Vec<Json>, String> {
        let path = |text: &str| Path::parse(text).ok_or_else(|| format!("`{text}` is not a path"));
        if let Some(header) = self.header {
            let path = path(header)?;
            let found = lines.header.iter().find_map(|line| path.find(&line.json));
            return found.cloned().map(|json| vec![json]).ok_or_else(|| format!("the header has no field `{header}`"));
        }
        let field = self.field.ok_or("expected `field`, `header` or an expression")?;
        let paths = std::iter::once(field).chain(also.iter().map(String::as_str));
        let paths = paths.map(path).collect::<Result<Vec<Path>, String>>()?;
        let sources = match self.file {
            None => events.to_vec(),
            Some(file) => {
                let text = beside(file)?;
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let json = |line: &str| Json::parse(line).map_err(|problem| format!("`{file}`: {}", problem.message));
                lines.map(json).collect::<Result<Vec<Json>, String>>()?
            }
        };
        let mut found: Vec<Json> =
            sources.iter().flat_map(|json| paths.iter().flat_map(|path| path.find_all(json))).cloned().collect();
        if found.is_empty() {
            let place = self.file.map_or("no event".to_owned(), |file| format!("no line of `{file}`"));
            return Err(format!("{place} has the field `{field}`"));
        }
        if !all && also.is_empty() {
            found.truncate(1);
        }
        Ok(found)
    }
}
