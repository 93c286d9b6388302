//! A harness in Rust.
//!
//! `operations.rs` has a trait with a method for each call, a function that draws one, and a function that publishes it,
//! runs it and records its outcome. Between the two, a call is a value that a line of a script can name. Lines are broken as `rustfmt` breaks them with its defaults, so that formatting a
//! project does not change the file.

use std::fmt::Write as _;

use crate::names::{Scope, camel, outcome, shout, snake};
use crate::plan::{Argument, Call, Field, Outcome, Plan};
use crate::values::{Literal, Source, Type};
use crate::{Files, header};

/// Words that cannot be names. Raw identifiers would work for most, but they read badly in messages.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield",
];

/// Types that a generated file uses.
const TYPES: &[&str] = &[
    "Action", "BadLine", "Call", "Client", "Draw", "Err", "Input", "Line", "None", "Ok", "Once", "Option", "Plan",
    "Result", "Scripted", "Self", "Session", "Some", "String", "System", "Vec",
];

/// Constants that a generated file has besides those of actions.
const CONSTANTS: &[&str] = &["CALLS", "UNSUPPORTED"];

/// Names in scope where a call is drawn, made, read or written.
const LOCALS: &[&str] = &[
    "call",
    "client",
    "draw",
    "input",
    "line",
    "make",
    "omnilink_record",
    "plan",
    "random",
    "session",
    "system",
    "todo",
    "weights",
];

/// The width of a line, of the arguments of a call, and of the fields of a structure and of a variant, as in `rustfmt`.
const WIDTH: usize = 100;
const CALL_WIDTH: usize = 60;
const STRUCT_WIDTH: usize = 18;
const VARIANT_WIDTH: usize = 35;

/// Writes the two files.
pub fn files(plan: &Plan) -> Files {
    let names = Names::new(plan);
    Files {
        operations_name: "src/operations.rs",
        operations: operations(plan, &names),
        main_name: "src/main.rs",
        main: main(plan, &names),
    }
}

/// All generated names.
struct Names {
    calls: Vec<CallNames>,
}

struct CallNames {
    method: String,
    /// The name of the type that the method returns, if it has its own, and of the call in `Call`.
    kind: String,
    variant: String,
    arguments: Vec<String>,
    outcomes: Vec<OutcomeNames>,
}

struct OutcomeNames {
    constant: String,
    variant: String,
    results: Vec<String>,
}

impl Names {
    fn new(plan: &Plan) -> Names {
        let mut methods = Scope::new(KEYWORDS, &["allows", "session"]);
        let mut kinds = Scope::new(KEYWORDS, TYPES);
        let mut variants = Scope::new(KEYWORDS, &[]);
        let mut constants = Scope::new(KEYWORDS, CONSTANTS);
        let mut call_names = |call: &Call| {
            let mut locals = Scope::new(KEYWORDS, LOCALS);
            let mut within = Scope::new(KEYWORDS, &[]);
            let arguments = call.arguments.iter().map(|argument| locals.reserve(snake(&argument.field.name))).collect();
            let outcome = |outcome: &Outcome| {
                // Each outcome has its own arm, so its results may have the same names as those of another.
                let mut locals = locals.clone();
                OutcomeNames {
                    constant: constants.reserve(shout(&outcome.action)),
                    variant: within.reserve(self::outcome(&call.name, &outcome.action)),
                    results: outcome.results.iter().map(|result| locals.reserve(snake(&result.name))).collect(),
                }
            };
            CallNames {
                method: methods.reserve(snake(&call.name)),
                kind: kinds.reserve(camel(&call.name)),
                variant: variants.reserve(camel(&call.name)),
                arguments,
                outcomes: call.outcomes.iter().map(outcome).collect(),
            }
        };
        Names { calls: plan.calls.iter().map(&mut call_names).collect() }
    }
}

fn operations(plan: &Plan, names: &Names) -> String {
    let mut text = String::new();
    for line in header(plan) {
        let _ = writeln!(text, "{}", format!("//! {line}").trim_end());
    }
    text.push_str(
        "\nuse std::io;\nuse std::sync::Once;\n\nuse omnilink_record::drive::{self, BadLine, Client, Draw, Line, Plan, Scripted};\n\nuse omnilink_record::Action;\n\n",
    );
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        for (place, (outcome, names)) in call.outcomes.iter().zip(&names.outcomes).enumerate() {
            let arguments = list(outcome.arguments.iter().map(|(_, name)| string(name)));
            let results = list(outcome.results.iter().map(|result| string(&result.name)));
            let before = format!("static {}: Action = Action::new", names.constant);
            let items = [string(&call.recorded(place)), format!("&[{arguments}]"), format!("&[{results}]")];
            text.push_str(&broken("", &before, &items, ";"));
        }
    }
    text.push_str(&unsupported(plan));
    text.push_str(&call_enum(plan, names));
    text.push_str(&input_enum(plan, names));
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        text.push_str(&outcome_type(call, names));
    }
    text.push_str(&system(plan, names));
    text.push_str(RUN);
    text.push_str(&draw(plan, names));
    text.push_str(&make(plan, names));
    text.push_str(&scripted(plan, names));
    text.push_str(UNFILLED);
    text
}

/// The code that is the same in every file.
const RUN: &str = "
/// Makes all calls that a plan asks for, from all its threads, and records them.
pub fn run<S: System>(plan: &Plan, system: &S) -> io::Result<()> {
    drive::run_calls(plan, system, S::session, draw, make)
}
";

const UNFILLED: &str = "
/// Placeholder for a function to fill in: exits the harness when called.
#[allow(dead_code)] // Unused once every function is filled in.
pub fn todo(function: &str) -> ! {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        eprintln!(\"error: fill in `{function}` in src/main.rs: make it call your system\");
    });
    std::process::exit(2)
}
";

fn unsupported(plan: &Plan) -> String {
    let mut text =
        "\n/// Actions of the specification that this harness leaves out. Runs do not cover them.\n".to_owned();
    for left_out in &plan.unsupported {
        let _ = writeln!(text, "///\n/// - `{}`, {}", left_out.action, left_out.place);
    }
    text.push_str("#[allow(dead_code)] // For readers.\n");
    let items: Vec<String> = plan.unsupported.iter().map(|left_out| string(&left_out.action)).collect();
    text + &array("pub const UNSUPPORTED: &[&str] = &", &items, ";")
}

fn call_enum(plan: &Plan, names: &Names) -> String {
    let mut text =
        "\n/// The calls of the system.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub enum Call {\n".to_owned();
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let _ = writeln!(text, "    /// [`System::{}`]: {}.\n    {},", names.method, often(call.weight), names.variant);
    }
    text + "}\n"
}

fn often(weight: u32) -> String {
    match weight {
        0 => "never drawn".to_owned(),
        weight => format!("drawn with weight {weight}"),
    }
}

/// The type that a call returns, if it has its own.
fn outcome_type(call: &Call, names: &CallNames) -> String {
    let mut text = String::new();
    match call.only() {
        Some(only) if only.results.len() > 1 => {
            let _ = writeln!(text, "\n/// The results of [`System::{}`].", names.method);
            let _ = writeln!(text, "#[derive(Debug, Clone, PartialEq)]\npub struct {} {{", names.kind);
            for (result, name) in only.results.iter().zip(&names.outcomes[0].results) {
                let _ = writeln!(text, "{}    pub {name}: {},", guess("    ", result), result_type(&result.kind));
            }
            text.push_str("}\n");
        }
        Some(_) => {}
        None => {
            let _ = writeln!(text, "\n/// The outcomes of [`System::{}`].", names.method);
            let _ = writeln!(
                text,
                "#[allow(dead_code)] // A system may never return some of them.\n#[derive(Debug, Clone, PartialEq)]\npub enum {} {{",
                names.kind
            );
            for (outcome, names) in call.outcomes.iter().zip(&names.outcomes) {
                let _ = writeln!(text, "    /// `{}`, {}.", outcome.action, outcome.place);
                let fields = outcome.results.iter().zip(&names.results);
                let fields: Vec<String> =
                    fields.map(|(result, name)| format!("{name}: {}", result_type(&result.kind))).collect();
                let guesses: String = outcome.results.iter().map(|result| guess("    ", result)).collect();
                text.push_str(&guesses);
                match list(fields.iter().cloned()) {
                    none if none.is_empty() => drop(writeln!(text, "    {},", names.variant)),
                    line if line.len() + names.variant.len() <= 30 => {
                        let _ = writeln!(text, "    {} {{ {line} }},", names.variant);
                    }
                    _ => {
                        let lines: String = fields.iter().map(|field| format!("        {field},\n")).collect();
                        let _ = write!(text, "    {} {{\n{lines}    }},\n", names.variant);
                    }
                }
            }
            text.push_str("}\n");
        }
    }
    text
}

fn system(plan: &Plan, names: &Names) -> String {
    let mut text = "
/// The system, with a method for each call of the specification.
pub trait System: Sync {
    /// The state of one thread: a handle, a connection, an open transaction.
    type Session;

    /// Made once for each thread.
    fn session(&self, thread: usize) -> Self::Session;

    /// Whether a thread may make this call now. Calls that are not allowed are not drawn.
    fn allows(&self, _session: &Self::Session, _call: Call) -> bool {
        true
    }
"
    .to_owned();
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let _ = writeln!(text, "\n    /// `{}`, {}.", call.name, call.outcomes[0].place);
        if let Some(only) = call.only().filter(|only| only.results.len() == 1) {
            let _ = writeln!(text, "    /// Returns `{}`.", only.results[0].name);
            text.push_str(&guess("    ", &only.results[0]));
        }
        for argument in &call.arguments {
            text.push_str(&guess("    ", &argument.field));
        }
        text.push_str(&signature(call, names, "", ";"));
    }
    text + "}\n"
}

/// The first lines of a method; argument names begin with a prefix.
fn signature(call: &Call, names: &CallNames, prefix: &str, end: &str) -> String {
    let mut items = vec!["&self".to_owned(), format!("{prefix}session: &mut Self::Session")];
    for (argument, name) in call.arguments.iter().zip(&names.arguments) {
        items.push(format!("{prefix}{name}: {}", argument_type(&argument.field.kind)));
    }
    let returned = match returned(call, names) {
        Some(returned) => format!(" -> {returned}"),
        None => String::new(),
    };
    let allow = if items.len() > 7 { "    #[allow(clippy::too_many_arguments)]\n" } else { "" };
    let line = format!("    fn {}({}){returned}{end}\n", names.method, items.join(", "));
    if line.len() <= WIDTH + 1 {
        return format!("{allow}{line}");
    }
    let lines: String = items.iter().map(|item| format!("        {item},\n")).collect();
    format!("{allow}    fn {}(\n{lines}    ){returned}{end}\n", names.method)
}

fn returned(call: &Call, names: &CallNames) -> Option<String> {
    match call.only().map(|only| &*only.results) {
        Some([]) => None,
        Some([result]) => Some(result_type(&result.kind)),
        Some(_) | None => Some(names.kind.clone()),
    }
}

/// A call with its arguments.
fn input_enum(plan: &Plan, names: &Names) -> String {
    let mut text =
        "\n/// A call with its arguments.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub enum Input {\n".to_owned();
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let fields = call.arguments.iter().zip(&names.arguments);
        let fields: Vec<String> =
            fields.map(|(argument, name)| format!("{name}: {}", argument_type(&argument.field.kind))).collect();
        let _ = writeln!(text, "    /// [`System::{}`].", names.method);
        text.push_str(&variant(names, &fields));
    }
    text + "}\n"
}

/// A variant of an enum in its definition.
fn variant(names: &CallNames, fields: &[String]) -> String {
    let variant = &names.variant;
    match fields.join(", ") {
        none if none.is_empty() => format!("    {variant},\n"),
        line if line.len() <= VARIANT_WIDTH => format!("    {variant} {{ {line} }},\n"),
        _ => {
            let lines: String = fields.iter().map(|field| format!("        {field},\n")).collect();
            format!("    {variant} {{\n{lines}    }},\n")
        }
    }
}

/// A value or a pattern with these fields, on one line if it fits.
fn input(indent: &str, before: &str, names: &CallNames, fields: &[String], end: &str) -> String {
    let variant = &names.variant;
    match fields.join(", ") {
        none if none.is_empty() => format!("{indent}{before}Input::{variant}{end}\n"),
        line if line.len() <= STRUCT_WIDTH => format!("{indent}{before}Input::{variant} {{ {line} }}{end}\n"),
        _ => {
            let lines: String = fields.iter().map(|field| format!("{indent}    {field},\n")).collect();
            format!("{indent}{before}Input::{variant} {{\n{lines}{indent}}}{end}\n")
        }
    }
}

/// The function that draws a call.
fn draw(plan: &Plan, names: &Names) -> String {
    let mut text = "
/// Every call and its weight.
"
    .to_owned();
    let weights: Vec<String> = plan
        .calls
        .iter()
        .zip(&names.calls)
        .map(|(call, names)| format!("(Call::{}, {})", names.variant, call.weight))
        .collect();
    let before = format!("const CALLS: [(Call, u32); {}] = ", plan.calls.len());
    text.push_str(&array(&before, &weights, ";"));
    text.push_str(
        "
/// Draws a call. There is none if no call is allowed.
pub fn draw<S: System>(system: &S, session: &S::Session, random: &mut Draw) -> Option<Input> {
    let weights = CALLS.map(|(call, weight)| weight * u32::from(system.allows(session, call)));
    if weights.iter().all(|weight| *weight == 0) {
        return None;
    }
    Some(match CALLS[random.weighted(&weights)].0 {
",
    );
    let indent = "            ";
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let before = format!("        Call::{} => ", names.variant);
        if call.arguments.is_empty() {
            let _ = writeln!(text, "{before}Input::{},", names.variant);
            continue;
        }
        let _ = writeln!(text, "{before}{{");
        for (argument, name) in call.arguments.iter().zip(&names.arguments) {
            text.push_str(&draw_argument(indent, name, &argument.field.kind, &argument.source));
        }
        text.push_str(&input(indent, "", names, &names.arguments, ""));
        text.push_str("        }\n");
    }
    text + "    })\n}\n"
}

/// The function that makes a call.
fn make(plan: &Plan, names: &Names) -> String {
    let mut text = "
/// Makes a call, and records it.
pub fn make<S: System>(system: &S, session: &mut S::Session, client: &mut Client, input: Input) {
    match input {
"
    .to_owned();
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        text.push_str(&arm(call, names));
    }
    text + "    }\n}\n"
}

/// How a line of a script names a call.
fn scripted(plan: &Plan, names: &Names) -> String {
    let mut text = "
impl Scripted for Input {
    fn read(line: &mut Line) -> Result<Input, BadLine> {
        Ok(match line.call() {
"
    .to_owned();
    let indent = "            ";
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let fields = call.arguments.iter().zip(&names.arguments);
        let take =
            |(argument, name): (&Argument, &String)| format!("{name}: line.take({})?", string(&argument.field.name));
        let fields: Vec<String> = fields.map(take).collect();
        text.push_str(&input(indent, &format!("{} => ", string(&call.name)), names, &fields, ","));
    }
    let known: Vec<String> = plan.calls.iter().map(|call| string(&call.name)).collect();
    let unknown = array("return Err(line.unknown(&", &known, "))").replace('\n', &format!("\n{indent}"));
    let unknown = match unknown.trim_end() {
        line if !line.contains('\n') => format!("{indent}_ => {line},\n"),
        lines => format!("{indent}_ => {{\n{indent}    {};\n{indent}}}\n", lines.replace('\n', "\n    ")),
    };
    text.push_str(&unknown);
    text.push_str("        })\n    }\n\n    fn write(self, line: &mut Line) {\n        match self {\n");
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let set = format!("line.set_call({})", string(&call.name));
        if call.arguments.is_empty() {
            let _ = writeln!(text, "{indent}Input::{} => {set},", names.variant);
            continue;
        }
        text.push_str(&input(indent, "", names, &names.arguments, " => {"));
        let _ = writeln!(text, "{indent}    {set};");
        for (argument, name) in call.arguments.iter().zip(&names.arguments) {
            let _ = writeln!(text, "{indent}    line.add({}, {name});", string(&argument.field.name));
        }
        let _ = writeln!(text, "{indent}}}");
    }
    text + "        }\n    }\n}\n"
}

fn arm(call: &Call, names: &CallNames) -> String {
    let mut text = input("        ", "", names, &names.arguments, " => {");
    let indent = "            ";
    let first = &call.outcomes[0];
    let before = "let call = client.call";
    let published = [format!("&{}", names.outcomes[0].constant), arguments(first, names)];
    text.push_str(&broken(indent, before, &published, ";"));
    let made = std::iter::once("session").chain(names.arguments.iter().map(String::as_str));
    let made: Vec<String> = made.map(str::to_owned).collect();
    let method = format!("system.{}", names.method);
    match call.only() {
        Some(only) => {
            let (bound, results) = match (&*only.results, &*names.outcomes[0].results) {
                ([], _) => (String::new(), "()".to_owned()),
                ([_], [name]) => (format!("let {name} = "), format!("({name},)")),
                (_, results) => {
                    let fields = list(results.iter().cloned());
                    (format!("let {} {{ {fields} }} = ", names.kind), tuple(results.iter().cloned()))
                }
            };
            text.push_str(&broken(indent, &format!("{bound}{method}"), &made, ";"));
            text.push_str(&broken(indent, "call.done", &[results], ";"));
        }
        None => {
            text.push_str(&broken(indent, &format!("match {method}"), &made, " {"));
            for (place, (outcome, of)) in call.outcomes.iter().zip(&names.outcomes).enumerate() {
                let fields = list(of.results.iter().cloned());
                let pattern = match fields.is_empty() {
                    true => format!("{}::{}", names.kind, of.variant),
                    false => format!("{}::{} {{ {fields} }}", names.kind, of.variant),
                };
                let results = tuple(of.results.iter().cloned());
                let (method, items) = match place {
                    0 => ("call.done", vec![results]),
                    _ => ("call.done_as", vec![format!("&{}", of.constant), arguments(outcome, names), results]),
                };
                let line = format!("{indent}    {pattern} => {method}({}),\n", items.join(", "));
                match line.len() <= WIDTH + 1 && items.join(", ").len() <= CALL_WIDTH {
                    true => text.push_str(&line),
                    false => {
                        let inner = format!("{indent}        ");
                        let body = broken(&inner, method, &items, "");
                        match body.lines().count() {
                            1 => drop(write!(text, "{indent}    {pattern} => {{\n{body}{indent}    }}\n")),
                            _ => {
                                let body =
                                    broken(&format!("{indent}    "), &format!("{pattern} => {method}"), &items, ",");
                                text.push_str(&body);
                            }
                        }
                    }
                }
            }
            let _ = writeln!(text, "{indent}}}");
        }
    }
    text + "        }\n"
}

/// The arguments of an outcome, as a tuple.
fn arguments(outcome: &Outcome, names: &CallNames) -> String {
    tuple(outcome.arguments.iter().map(|(place, _)| names.arguments[*place].clone()))
}

/// Draws a value for an argument.
fn draw_argument(indent: &str, name: &str, kind: &Type, source: &Source) -> String {
    let bind = |value: String| format!("{indent}let {name} = {value};\n");
    match source {
        Source::Fresh => bind(some(kind, "random.fresh()".to_owned())),
        Source::Range(low, high) => bind(some(kind, format!("random.range({low}, {high})"))),
        Source::OneOf(of) => {
            let items: Vec<String> = of.iter().map(|literal| self::literal(literal, kind)).collect();
            let before = format!("{indent}let {name} = *random.one_of::<{}>(&", argument_type(kind));
            array(&before, &items, ");")
                .replace("\n    ", &format!("\n    {indent}"))
                .replace("\n]", &format!("\n{indent}]"))
        }
    }
}

fn some(kind: &Type, value: String) -> String {
    match kind {
        Type::Optional(_) => format!("Some({value})"),
        _ => value,
    }
}

fn literal(literal: &Literal, kind: &Type) -> String {
    match (literal, kind) {
        (Literal::Nothing, _) => "None".to_owned(),
        (literal, Type::Optional(of)) => format!("Some({})", self::literal(literal, of)),
        (Literal::Boolean(truth), _) => truth.to_string(),
        (Literal::Integer(number), _) => number.to_string(),
        (Literal::String(text), _) => string(text),
        (Literal::Sequence(elements), Type::Sequence(of)) => {
            format!("&[{}]", list(elements.iter().map(|element| self::literal(element, of))))
        }
        (Literal::Sequence(_), _) => unreachable!("a sequence is of a type of sequences"),
    }
}

fn argument_type(kind: &Type) -> String {
    match kind {
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "i64".to_owned(),
        Type::String => "&'static str".to_owned(),
        Type::Sequence(of) => format!("&'static [{}]", argument_type(of)),
        Type::Optional(of) => format!("Option<{}>", argument_type(of)),
    }
}

fn result_type(kind: &Type) -> String {
    match kind {
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "i64".to_owned(),
        Type::String => "String".to_owned(),
        Type::Sequence(of) => format!("Vec<{}>", result_type(of)),
        Type::Optional(of) => format!("Option<{}>", result_type(of)),
    }
}

/// A line about an unknown type.
fn guess(indent: &str, field: &Field) -> String {
    match field.guessed_from.as_deref() {
        None => String::new(),
        Some("") => format!("{indent}/// The type of `{}` is a guess: no set determines it.\n", field.name),
        Some(set) => {
            format!("{indent}/// The type of `{}` is a guess: it comes from `{}`.\n", field.name, set.replace('`', "'"))
        }
    }
}

fn string(text: &str) -> String {
    format!("{text:?}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match &*items {
        [only] => format!("({only},)"),
        items => format!("({})", items.join(", ")),
    }
}

/// A call, on one line if it fits, otherwise with one argument a line.
fn broken(indent: &str, before: &str, items: &[String], end: &str) -> String {
    let inside = items.join(", ");
    let line = format!("{indent}{before}({inside}){end}\n");
    if line.len() <= WIDTH + 1 && inside.len() <= CALL_WIDTH {
        return line;
    }
    let lines: String = items.iter().map(|item| format!("{indent}    {item},\n")).collect();
    format!("{indent}{before}(\n{lines}{indent}){end}\n")
}

/// An array, on one line if it fits.
fn array(before: &str, items: &[String], end: &str) -> String {
    let inside = items.join(", ");
    let line = format!("{before}[{inside}]{end}\n");
    if line.len() <= WIDTH + 1 && inside.len() <= CALL_WIDTH {
        return line;
    }
    // Short elements share lines.
    if items.iter().all(|item| item.len() <= 10) {
        let mut lines = vec!["   ".to_owned()];
        for item in items {
            let last = lines.last_mut().expect("there is a line");
            match last.len() + item.len() + 2 <= WIDTH {
                true => drop(write!(last, " {item},")),
                false => lines.push(format!("    {item},")),
            }
        }
        return format!("{before}[\n{}\n]{end}\n", lines.join("\n"));
    }
    let lines: String = items.iter().map(|item| format!("    {item},\n")).collect();
    format!("{before}[\n{lines}]{end}\n")
}

/// The file that the user fills in.
fn main(plan: &Plan, names: &Names) -> String {
    let mut text = format!(
        "//! Makes the calls of `{}` on the system, from several threads, and records them.
//!
//! Fill in `Subject` and every function that says `todo`: each makes one call of your system and
//! returns its answer. Calls are drawn and recorded in `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use omnilink_record::drive::{{self, Plan}};
",
        plan.spec
    );
    let own =
        plan.calls.iter().zip(&names.calls).filter(|(call, names)| returned(call, names).as_ref() == Some(&names.kind));
    let mut imports: Vec<&str> = own.map(|(_, names)| names.kind.as_str()).chain(["System"]).collect();
    imports.sort_unstable();
    text.push_str(&imported(&imports));
    text.push_str(
        "
/// The system under test.
struct Subject;

impl System for Subject {
    type Session = ();

    fn session(&self, _thread: usize) -> Self::Session {}
",
    );
    for (call, names) in plan.calls.iter().zip(&names.calls) {
        let _ = write!(
            text,
            "\n{}        operations::todo({})\n    }}\n",
            signature(call, names, "_", " {"),
            string(&names.method)
        );
    }
    text + "}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject)?;
        Ok(())
    })
}
"
}

fn imported(names: &[&str]) -> String {
    let line = match names {
        [only] => format!("use operations::{only};\n"),
        names => format!("use operations::{{{}}};\n", names.join(", ")),
    };
    if line.len() <= WIDTH + 1 {
        return line;
    }
    let mut lines = vec!["   ".to_owned()];
    for name in names {
        let last = lines.last_mut().expect("there is a line");
        match last.len() + name.len() + 2 <= WIDTH {
            true => drop(write!(last, " {name},")),
            false => lines.push(format!("    {name},")),
        }
    }
    format!("use operations::{{\n{}\n}};\n", lines.join("\n"))
}
