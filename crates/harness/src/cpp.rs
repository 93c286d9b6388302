//! A harness in C++17.
//!
//! `operations.hpp` draws calls of any class that has a member function for each, publishes them, runs them and
//! records their outcomes. The only base class is the one that allows every call: a missing function does not
//! compile.

use std::fmt::Write as _;

use crate::names::{Scope, camel, outcome, snake};
use crate::plan::{Argument, Call, Field, Outcome, Plan};
use crate::values::{Literal, Source, Type};
use crate::{Files, header};

/// Words that cannot be names: keywords, and macros of common headers.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "major",
    "makedev",
    "minor",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Types and functions that a generated file has besides those of calls.
const TYPES: &[&str] = &["Call", "Defaults", "Input", "Session", "Subject", "System", "kUnsupported"];

/// Names in scope where a call is drawn, made, read or written.
const LOCALS: &[&str] = &[
    "call",
    "client",
    "input",
    "line",
    "omnilink",
    "operations",
    "random",
    "said",
    "session",
    "std",
    "system",
    "weight",
    "weights",
];

/// Writes the two files.
pub fn files(plan: &Plan) -> Files {
    let names = names(plan);
    Files {
        operations_name: "operations.hpp",
        operations: operations(plan, &names),
        main_name: "main.cpp",
        main: main(plan, &names),
    }
}

/// The names generated for a call.
struct Names {
    method: String,
    /// The name of the type that the function returns, if it has its own.
    kind: String,
    variant: String,
    /// The type of the call with its arguments.
    input: String,
    arguments: Vec<String>,
    outcomes: Vec<OutcomeNames>,
}

struct OutcomeNames {
    constant: String,
    kind: String,
    results: Vec<String>,
}

fn names(plan: &Plan) -> Vec<Names> {
    let mut methods = Scope::new(KEYWORDS, &["allows", "session"]);
    let mut kinds = Scope::new(KEYWORDS, TYPES);
    let mut variants = Scope::new(KEYWORDS, &[]);
    let mut names = Vec::new();
    for call in &plan.calls {
        let mut locals = Scope::new(KEYWORDS, LOCALS);
        let arguments = call.arguments.iter().map(|argument| locals.reserve(snake(&argument.field.name))).collect();
        let kind = kinds.reserve(camel(&call.name));
        let mut outcomes = Vec::new();
        for outcome in &call.outcomes {
            let mut fields = Scope::new(KEYWORDS, &[]);
            outcomes.push(OutcomeNames {
                constant: kinds.reserve(format!("k{}", camel(&outcome.action))),
                kind: kinds.reserve(format!("{kind}{}", self::outcome(&call.name, &outcome.action))),
                results: outcome.results.iter().map(|result| fields.reserve(snake(&result.name))).collect(),
            });
        }
        let (method, variant) = (methods.reserve(snake(&call.name)), variants.reserve(camel(&call.name)));
        names.push(Names { method, kind, variant, input: String::new(), arguments, outcomes });
    }
    // After all others, which users write.
    for names in &mut names {
        names.input = kinds.reserve(format!("{}Input", names.kind));
    }
    names
}

fn operations(plan: &Plan, names: &[Names]) -> String {
    let mut text = String::new();
    for line in header(plan) {
        let _ = writeln!(text, "{}", format!("// {line}").trim_end());
    }
    text.push_str(INCLUDES);
    for (call, names) in plan.calls.iter().zip(names) {
        for (place, (outcome, names)) in call.outcomes.iter().zip(&names.outcomes).enumerate() {
            let arguments = list(outcome.arguments.iter().map(|(_, name)| string(name)));
            let results = list(outcome.results.iter().map(|result| string(&result.name)));
            let action = string(&call.recorded(place));
            let _ = writeln!(
                text,
                "inline constexpr omnilink::Action {}{{{action}, {{{arguments}}}, {{{results}}}}};",
                names.constant
            );
        }
    }
    text.push_str("\n// Actions of the specification that this harness leaves out. Runs do not cover them.\n");
    for left_out in &plan.unsupported {
        let _ = writeln!(text, "// - `{}`, {}.", left_out.action, left_out.place);
    }
    let left_out = list(plan.unsupported.iter().map(|left_out| string(&left_out.action)));
    let count = plan.unsupported.len();
    let _ = writeln!(text, "inline constexpr std::array<std::string_view, {count}> kUnsupported{{{left_out}}};");
    text.push_str("\n// The calls of the system.\nenum class Call {\n");
    for (call, names) in plan.calls.iter().zip(names) {
        let _ = writeln!(text, "  {},  // {}.", names.variant, often(call.weight));
    }
    text.push_str("};\n");
    for (call, names) in plan.calls.iter().zip(names) {
        text.push_str(&outcome_type(call, names));
    }
    text.push_str(
        "
// The system is any class that derives from this one, has a type `Session` for the state of one thread (a handle, a
// connection, an open transaction), and these functions:
//
//   Session session(std::size_t thread);
",
    );
    for (call, names) in plan.calls.iter().zip(names) {
        let _ = writeln!(text, "//   {}", signature(call, names, Naming::Plain, ";"));
    }
    text.push_str(
        "struct Defaults {
  // Whether a thread may make this call now. Calls that are not allowed are not drawn.
  template <class Session>
  bool allows(const Session&, Call) const {
    return true;
  }
};
",
    );
    text.push_str(&inputs(plan, names));
    text.push_str(&draw(plan, names));
    text.push_str(&make(plan, names));
    text.push_str(&read(plan, names));
    text.push_str(&write(plan, names));
    text + RUN
}

const INCLUDES: &str = "
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <omnilink/drive.hpp>

namespace operations {

";

const RUN: &str = "
// Makes all calls that a plan asks for, from all its threads, and records them.
template <class System>
void run(const omnilink::Plan& plan, System& system) {
  omnilink::run_calls<Input>(
      plan, system, [](System& shared, std::size_t thread) { return shared.session(thread); },
      [](System& shared, auto& session, omnilink::Draw& random) { return draw(shared, session, random); },
      [](System& shared, auto& session, omnilink::Client& client, const Input& input) {
        make(shared, session, client, input);
      },
      read, write);
}

// Placeholder for a function to fill in: exits the harness when called.
[[noreturn]] inline void todo(const char* function) {
  static std::once_flag said;
  std::call_once(said, [&] {
    std::fprintf(stderr, \"error: fill in `%s` in main.cpp: make it call your system\\n\", function);
  });
  std::_Exit(2);
}

}  // namespace operations
";

fn often(weight: u32) -> String {
    match weight {
        0 => "Never drawn".to_owned(),
        weight => format!("Drawn with weight {weight}"),
    }
}

/// The types that a call returns, if it has its own.
fn outcome_type(call: &Call, names: &Names) -> String {
    let mut text = String::new();
    let fields = |text: &mut String, outcome: &Outcome, of: &OutcomeNames| {
        for (result, name) in outcome.results.iter().zip(&of.results) {
            let _ = writeln!(text, "  {} {name};{}", result_type(&result.kind), guess(result));
        }
    };
    match call.only() {
        Some(only) if only.results.len() > 1 => {
            let _ = writeln!(text, "\n// The results of `{}`.\nstruct {} {{", names.method, names.kind);
            fields(&mut text, only, &names.outcomes[0]);
            text.push_str("};\n");
        }
        Some(_) => {}
        None => {
            for (outcome, of) in call.outcomes.iter().zip(&names.outcomes) {
                let _ = writeln!(text, "\n// `{}`, {}.", outcome.action, outcome.place);
                if outcome.results.is_empty() {
                    let _ = writeln!(text, "struct {} {{}};", of.kind);
                    continue;
                }
                let _ = writeln!(text, "struct {} {{", of.kind);
                fields(&mut text, outcome, of);
                text.push_str("};\n");
            }
            let kinds = list(names.outcomes.iter().map(|outcome| outcome.kind.clone()));
            let _ = writeln!(text, "\n// The outcomes of `{}`.", names.method);
            let _ = writeln!(text, "using {} = std::variant<{kinds}>;", names.kind);
        }
    }
    text
}

/// The naming of a function's parameters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Plain,
    /// In comments, since they are unused.
    Unused,
}

fn signature(call: &Call, names: &Names, naming: Naming, end: &str) -> String {
    let named = |kind: &str, name: &str| match naming {
        Naming::Plain => format!("{kind} {name}"),
        Naming::Unused => format!("{kind} /*{name}*/"),
    };
    let arguments = call.arguments.iter().zip(&names.arguments);
    let arguments = arguments.map(|(argument, name)| named(&parameter_type(&argument.field.kind), name));
    let items = list([named("Session&", "session")].into_iter().chain(arguments));
    let returned = match (call.only().map(|only| &*only.results), naming) {
        (Some([]), _) => "void".to_owned(),
        (Some([result]), _) => result_type(&result.kind),
        (_, Naming::Plain) => names.kind.clone(),
        (_, Naming::Unused) => format!("operations::{}", names.kind),
    };
    format!("{returned} {}({items}){end}", names.method)
}

/// The types of calls with their arguments.
fn inputs(plan: &Plan, names: &[Names]) -> String {
    let mut text = String::new();
    for (call, names) in plan.calls.iter().zip(names) {
        let _ = writeln!(text, "\n// The arguments of `{}`.", names.method);
        if call.arguments.is_empty() {
            let _ = writeln!(text, "struct {} {{}};", names.input);
            continue;
        }
        let _ = writeln!(text, "struct {} {{", names.input);
        for (argument, name) in call.arguments.iter().zip(&names.arguments) {
            let _ = writeln!(text, "  {} {name};", argument_type(&argument.field.kind));
        }
        text.push_str("};\n");
    }
    let kinds = list(names.iter().map(|names| names.input.clone()));
    let _ = writeln!(text, "\n// A call with its arguments.\nusing Input = std::variant<{kinds}>;");
    text
}

/// The function that draws a call.
fn draw(plan: &Plan, names: &[Names]) -> String {
    let mut text = format!(
        "
// Draws a call. There is none if no call is allowed.
template <class System, class Session>
std::optional<Input> draw(System& system, Session& session, omnilink::Draw& random) {{
  const auto weight = [&](Call call, std::uint32_t often) {{ return system.allows(session, call) ? often : 0U; }};
  const std::array<std::uint32_t, {}> weights{{
",
        plan.calls.len()
    );
    for (call, names) in plan.calls.iter().zip(names) {
        let _ = writeln!(text, "      weight(Call::{}, {}),", names.variant, call.weight);
    }
    text.push_str(
        "  };
  if (std::all_of(weights.begin(), weights.end(), [](std::uint32_t often) { return often == 0; })) return std::nullopt;
  switch (static_cast<Call>(random.weighted(weights))) {
",
    );
    for (call, names) in plan.calls.iter().zip(names) {
        if call.arguments.is_empty() {
            let _ = writeln!(text, "    case Call::{}:\n      return {}{{}};", names.variant, names.input);
            continue;
        }
        let _ = writeln!(text, "    case Call::{}: {{", names.variant);
        for (argument, name) in call.arguments.iter().zip(&names.arguments) {
            text.push_str(&draw_argument(name, &argument.field.kind, &argument.source));
        }
        let _ = writeln!(text, "      return {}{{{}}};\n    }}", names.input, list(names.arguments.iter().cloned()));
    }
    text + "  }\n  return std::nullopt;\n}\n"
}

/// Binds the arguments of a call.
fn bound(place: usize, names: &Names) -> String {
    match list(names.arguments.iter().cloned()) {
        none if none.is_empty() => String::new(),
        arguments => format!("      const auto& [{arguments}] = std::get<{place}>(input);\n"),
    }
}

/// The function that makes a call of a line of a script.
fn read(plan: &Plan, names: &[Names]) -> String {
    let mut text =
        "\n// The call that a line of a script names.\ninline Input read(omnilink::Line& line) {\n".to_owned();
    for (call, names) in plan.calls.iter().zip(names) {
        let take = |argument: &Argument| {
            let Field { name, kind, .. } = &argument.field;
            format!("line.take<{}>({})", argument_type(kind), string(name))
        };
        let arguments = list(call.arguments.iter().map(take));
        let _ = writeln!(text, "  if (line.call() == {}) return {}{{{arguments}}};", string(&call.name), names.input);
    }
    let known = list(plan.calls.iter().map(|call| string(&call.name)));
    text + &format!("  line.unknown({{{known}}});\n}}\n")
}

/// The function that makes a line of a script of a call.
fn write(plan: &Plan, names: &[Names]) -> String {
    let mut text = "
// A call as a line of a script.
inline void write(const Input& input, omnilink::Line& line) {
  switch (input.index()) {
"
    .to_owned();
    for (place, (call, names)) in plan.calls.iter().zip(names).enumerate() {
        let _ = write!(text, "    case {place}: {{\n{}", bound(place, names));
        let _ = writeln!(text, "      line.set_call({});", string(&call.name));
        for (argument, name) in call.arguments.iter().zip(&names.arguments) {
            let _ = writeln!(text, "      line.add({}, {name});", string(&argument.field.name));
        }
        text.push_str("      break;\n    }\n");
    }
    text + "  }\n}\n"
}

/// The function that makes a call.
fn make(plan: &Plan, names: &[Names]) -> String {
    let mut text = "
// Makes a call, and records it.
template <class System, class Session>
void make(System& system, Session& session, omnilink::Client& client, const Input& input) {
  switch (input.index()) {
"
    .to_owned();
    for (place, (call, names)) in plan.calls.iter().zip(names).enumerate() {
        text.push_str(&case(place, call, names));
    }
    text + "  }\n}\n"
}

fn case(place: usize, call: &Call, names: &Names) -> String {
    let mut text = format!("    case {place}: {{\n{}", bound(place, names));
    let of_outcome = |outcome: &Outcome| {
        let names = outcome.arguments.iter().map(|(place, _)| names.arguments[*place].clone());
        names.collect::<Vec<_>>()
    };
    let published = list([names.outcomes[0].constant.clone()].into_iter().chain(of_outcome(&call.outcomes[0])));
    let made = list(["session".to_owned()].into_iter().chain(names.arguments.iter().cloned()));
    let _ = writeln!(text, "      auto call = client.call({published});");
    match call.only().map(|only| &*only.results) {
        Some([]) => {
            let _ = writeln!(text, "      system.{}({made});\n      call.done();", names.method);
        }
        Some([result]) => {
            let kind = result_type(&result.kind);
            let _ =
                writeln!(text, "      const {kind} said = system.{}({made});\n      call.done(said);", names.method);
        }
        Some(_) => {
            let said = list(names.outcomes[0].results.iter().map(|result| format!("said.{result}")));
            let _ = writeln!(text, "      const {} said = system.{}({made});", names.kind, names.method);
            let _ = writeln!(text, "      call.done({said});");
        }
        None => {
            let _ = writeln!(text, "      const {} said = system.{}({made});", names.kind, names.method);
            text.push_str("      switch (said.index()) {\n");
            for (place, (outcome, of)) in call.outcomes.iter().zip(&names.outcomes).enumerate() {
                let results = list(of.results.iter().map(|result| format!("std::get<{place}>(said).{result}")));
                let (constant, arguments) = (&of.constant, tuple(of_outcome(outcome).join(", ")));
                let done = match place {
                    0 => format!("call.done({results})"),
                    _ => format!("call.done_as({constant}, {arguments}, {})", tuple(results)),
                };
                let _ = writeln!(text, "        case {place}:\n          {done};\n          break;");
            }
            text.push_str("      }\n");
        }
    }
    text + "      break;\n    }\n"
}

/// A tuple by `make_tuple`: copies what can be copied, and a tuple of one tuple stays one.
fn tuple(items: String) -> String {
    if items.is_empty() { "std::tuple<>()".to_owned() } else { format!("std::make_tuple({items})") }
}

/// Draws a value for an argument.
fn draw_argument(name: &str, kind: &Type, source: &Source) -> String {
    let declared = argument_type(kind);
    let constant = match kind {
        Type::String => "const char* const".to_owned(),
        _ => format!("const {declared}"),
    };
    match source {
        Source::Fresh => format!("      {constant} {name} = random.fresh();\n"),
        Source::Range(low, high) => {
            let (low, high) = (integer(*low), integer(*high));
            format!("      {constant} {name} = random.range({low}, {high});\n")
        }
        Source::OneOf(of) => {
            let items = list(of.iter().map(|literal| self::literal(literal, kind)));
            match kind {
                Type::Sequence(_) => format!(
                    "      static const std::vector<{declared}> {name}_values{{{items}}};\n      \
                     const {declared}& {name} = random.one_of({name}_values);\n"
                ),
                _ => format!("      {constant} {name} = random.one_of<{declared}>({{{items}}});\n"),
            }
        }
    }
}

fn literal(literal: &Literal, kind: &Type) -> String {
    match (literal, kind) {
        (Literal::Nothing, _) => "std::nullopt".to_owned(),
        (literal, Type::Optional(of)) => self::literal(literal, of),
        (Literal::Boolean(truth), _) => truth.to_string(),
        (Literal::Integer(number), _) => integer(*number),
        (Literal::String(text), _) => string(text),
        (Literal::Sequence(elements), kind @ Type::Sequence(of)) => {
            let elements = list(elements.iter().map(|element| self::literal(element, of)));
            format!("{}{{{elements}}}", argument_type(kind))
        }
        (Literal::Sequence(_), _) => unreachable!("a sequence is of a type of sequences"),
    }
}

fn integer(number: i64) -> String {
    // The smallest integer has no literal.
    if number == i64::MIN { "INT64_MIN".to_owned() } else { number.to_string() }
}

fn argument_type(kind: &Type) -> String {
    match kind {
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "std::int64_t".to_owned(),
        Type::String => "const char*".to_owned(),
        Type::Sequence(of) => format!("std::vector<{}>", argument_type(of)),
        Type::Optional(of) => format!("std::optional<{}>", argument_type(of)),
    }
}

fn parameter_type(kind: &Type) -> String {
    match kind {
        Type::Sequence(_) => format!("const {}&", argument_type(kind)),
        _ => argument_type(kind),
    }
}

fn result_type(kind: &Type) -> String {
    match kind {
        Type::String => "std::string".to_owned(),
        Type::Sequence(of) => format!("std::vector<{}>", result_type(of)),
        Type::Optional(of) => format!("std::optional<{}>", result_type(of)),
        Type::Boolean | Type::Integer => argument_type(kind),
    }
}

/// A remark about an unknown type.
fn guess(field: &Field) -> String {
    match field.guessed_from.as_deref() {
        None => String::new(),
        Some("") => "  // The type is a guess: no set determines it.".to_owned(),
        Some(set) => format!("  // The type is a guess: it comes from `{set}`."),
    }
}

/// A string literal for any text.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            // Always three digits, so that a following digit is not taken as part of the escape.
            c if c.is_ascii_control() => drop(write!(literal, "\\{:03o}", u32::from(c))),
            c => literal.push(c),
        }
    }
    literal + "\""
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(", ")
}

/// The file that the user fills in.
fn main(plan: &Plan, names: &[Names]) -> String {
    let mut text = format!(
        "// Makes the calls of `{}` on the system, from several threads, and records them.
//
// Fill in `Subject` and every function that says `todo`: each makes one call of your system and returns its answer.
// Calls are drawn and recorded in `operations.hpp`.

#include \"operations.hpp\"

// The system under test.
struct Subject : operations::Defaults {{
  // The data that a thread keeps for itself.
  struct Session {{}};

  Session session(std::size_t /*thread*/) {{ return {{}}; }}
",
        plan.spec
    );
    for (call, names) in plan.calls.iter().zip(names) {
        let signature = signature(call, names, Naming::Unused, "");
        let _ = write!(text, "\n  {signature} {{\n    operations::todo({});\n  }}\n", string(&names.method));
    }
    text + "};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
"
}
