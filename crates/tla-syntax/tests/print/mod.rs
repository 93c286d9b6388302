//! Prints a tree in brackets, one unit a line, for snapshots.

use std::fmt::Write;

use omnilink_tla_syntax::ast::{
    Bound, Declaration, Expr, Fairness, Kind, Module, Name, Pattern, Prefix, Quantifier, Step, Unit,
};

/// All of a module.
pub(crate) fn module(module: &Module) -> String {
    let mut out = format!("module {} extends {}\n", module.name.text, names(&module.extends));
    for item in &module.units {
        writeln!(out, "{}", unit(item).replace('\n', "\n  ")).expect("writing to a string succeeds");
    }
    out
}

/// One declaration or definition.
pub(crate) fn unit(unit: &Unit) -> String {
    match unit {
        Unit::Constants(constants) => format!("constants {}", declarations(constants)),
        Unit::Variables(variables) => format!("variables {}", names(variables)),
        Unit::Recursive(operators) => format!("recursive {}", declarations(operators)),
        Unit::Definition(definition) => {
            let kind = if definition.is_function { "function" } else { "define" };
            let local = if definition.is_local { "local " } else { "" };
            let params = declarations(&definition.params);
            format!("{local}{kind} {}{params} {}", definition.name.text, expr(&definition.body))
        }
        Unit::Instance(instance) => {
            let local = if instance.is_local { "local " } else { "" };
            let name = instance.name.as_ref().map_or("", |name| &name.text);
            let with: String =
                instance.substitutions.iter().map(|(name, e)| format!(" [{} {}]", name.text, expr(e))).collect();
            format!("{local}instance {name}{} of {}{with}", declarations(&instance.params), instance.module.text)
        }
        Unit::Assume { name, body } => {
            format!("assume {}{}", name.as_ref().map_or("", |name| &name.text), expr(body))
        }
        Unit::Theorem { name, body } => {
            let name = name.as_ref().map_or("", |name| &name.text);
            format!("theorem {name} {}", body.as_ref().map_or("-".to_owned(), expr))
        }
        Unit::Module(inner) => module(inner).trim_end().to_owned(),
    }
}

/// An expression.
pub(crate) fn expr(e: &Expr) -> String {
    let form = |head: &str, parts: Vec<String>| {
        format!("({head}{})", parts.iter().map(|p| format!(" {p}")).collect::<String>())
    };
    let fields =
        |fields: &[(Name, Expr)]| fields.iter().map(|(name, e)| format!("[{} {}]", name.text, expr(e))).collect();
    match &e.kind {
        Kind::Error => "ERROR".to_owned(),
        Kind::Number(Some(number)) => number.to_string(),
        Kind::Number(None) => "too-large".to_owned(),
        Kind::Decimal(text) => text.clone(),
        Kind::String(text) => format!("{text:?}"),
        Kind::Boolean(value) => value.to_string(),
        Kind::Apply { prefixes, name, args } => {
            let prefixes: String = prefixes.iter().map(prefix).collect();
            let head = format!("{prefixes}{}", name.text);
            if args.is_empty() { head } else { form(&head, args.iter().map(expr).collect()) }
        }
        Kind::Lambda { params, body } => format!("(lambda {} {})", declarations(params), expr(body)),
        Kind::Conjunction(items) => form("and", items.iter().map(expr).collect()),
        Kind::Disjunction(items) => form("or", items.iter().map(expr).collect()),
        Kind::If(parts) => form("if", parts.iter().map(expr).collect()),
        Kind::Case { arms, other } => {
            let mut parts: Vec<_> = arms.iter().map(|(guard, e)| format!("[{} {}]", expr(guard), expr(e))).collect();
            parts.extend(other.iter().map(|e| format!("[other {}]", expr(e))));
            form("case", parts)
        }
        Kind::Let { units, body } => {
            let units = units.iter().map(|item| format!("[{}]", unit(item)));
            form("let", units.chain([expr(body)]).collect())
        }
        Kind::Quantified { quantifier, bounds, body } => {
            let head = if *quantifier == Quantifier::Forall { "forall" } else { "exists" };
            form(head, bounds.iter().map(bound).chain([expr(body)]).collect())
        }
        Kind::Unbounded { quantifier, names: bound, body } => form(quantifier, vec![names(bound), expr(body)]),
        Kind::Choose { pattern: chosen, set, body } => {
            let set = set.as_ref().map_or("anything".to_owned(), |set| expr(set));
            form("choose", vec![pattern(chosen), set, expr(body)])
        }
        Kind::Set(items) => form("set", items.iter().map(expr).collect()),
        Kind::Filter { pattern: bound, set, body } => form("filter", vec![pattern(bound), expr(set), expr(body)]),
        Kind::Map { body, bounds } => form("map", [expr(body)].into_iter().chain(bounds.iter().map(bound)).collect()),
        Kind::Function { bounds, body } => form("fun", bounds.iter().map(bound).chain([expr(body)]).collect()),
        Kind::FunctionSet(parts) => form("functions", parts.iter().map(expr).collect()),
        Kind::Record(parts) => form("record", fields(parts)),
        Kind::RecordSet(parts) => form("records", fields(parts)),
        Kind::Tuple(items) => form("tuple", items.iter().map(expr).collect()),
        Kind::Product(items) => form("product", items.iter().map(expr).collect()),
        Kind::Except { function, updates } => {
            let updates = updates.iter().map(|update| {
                let path: String = update.path.iter().map(step).collect();
                format!("[{path} {}]", expr(&update.value))
            });
            form("except", [expr(function)].into_iter().chain(updates).collect())
        }
        Kind::At => "@".to_owned(),
        Kind::Index { function, args } => form("at", [&**function].into_iter().chain(args).map(expr).collect()),
        Kind::Field(record, name) => format!("{}.{}", expr(record), name.text),
        Kind::Square(parts) => form("square", parts.iter().map(expr).collect()),
        Kind::Angle(parts) => form("angle", parts.iter().map(expr).collect()),
        Kind::Fairness(fairness, parts) => {
            form(if *fairness == Fairness::Weak { "wf" } else { "sf" }, parts.iter().map(expr).collect())
        }
        Kind::Label(name, body) => form("label", vec![name.text.clone(), expr(body)]),
        Kind::Part { prefixes, name, args, path } => {
            let prefixes: String = prefixes.iter().map(prefix).collect();
            let path: String = path.iter().map(|step| format!("!{step}")).collect();
            form(&format!("part {prefixes}{}{path}", name.text), args.iter().map(expr).collect())
        }
        Kind::Subexpression => "subexpression".to_owned(),
    }
}

fn prefix(prefix: &Prefix) -> String {
    let args: Vec<_> = prefix.args.iter().map(expr).collect();
    if args.is_empty() {
        format!("{}!", prefix.name.text)
    } else {
        format!("({} {})!", prefix.name.text, args.join(" "))
    }
}

fn bound(bound: &Bound) -> String {
    let patterns: Vec<_> = bound.patterns.iter().map(pattern).collect();
    format!("[{} in {}]", patterns.join(" "), expr(&bound.set))
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name(name) => name.text.clone(),
        Pattern::Tuple(parts, _) => format!("<{}>", names(parts)),
    }
}

fn step(step: &Step) -> String {
    match step {
        Step::Index(args) => format!("[{}]", args.iter().map(expr).collect::<Vec<_>>().join(" ")),
        Step::Field(name) => format!(".{}", name.text),
    }
}

fn declarations(declarations: &[Declaration]) -> String {
    let shown = declarations.iter().map(|declaration| match declaration.arity {
        0 => declaration.name.text.clone(),
        arity => format!("{}/{arity}", declaration.name.text),
    });
    let parts: Vec<_> = shown.collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) }
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| &*name.text).collect::<Vec<_>>().join(" ")
}
