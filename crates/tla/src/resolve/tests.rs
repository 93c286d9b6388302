//! Specifications and their resolved form, as text.

use std::fmt::Write as _;

use super::{Errors, Loader, resolve, resolve_expression};
use crate::ir::{Arg, Body, Bound, DefId, ExprId, Module, Node, Pattern, Step};
use crate::strings::Strings;
use crate::value::Value;

mod err;
mod ok;

/// Modules concatenated in one text; the first is the root.
struct Texts(Vec<(String, String)>);

impl Texts {
    fn new(text: &str) -> Texts {
        let mut modules: Vec<(String, String)> = Vec::new();
        for line in text.trim_start().lines() {
            if let Some(name) = line.strip_prefix("---- MODULE ").and_then(|rest| rest.strip_suffix(" ----")) {
                modules.push((name.to_owned(), String::new()));
            }
            if modules.is_empty() {
                modules.push(("Root".to_owned(), "---- MODULE Root ----\n".to_owned()));
            }
            let (_, module) = modules.last_mut().unwrap();
            module.push_str(line);
            module.push('\n');
        }
        modules.iter_mut().filter(|(_, module)| !module.contains("\n====")).for_each(|(_, module)| *module += "====\n");
        Texts(modules)
    }
}

impl Loader for Texts {
    fn load(&mut self, module: &str) -> Option<(String, String)> {
        self.0.iter().find(|(name, _)| name == module).cloned()
    }
}

fn resolve_texts(text: &str) -> Result<Module, Errors> {
    let mut texts = Texts::new(text);
    let (name, root) = texts.0.remove(0);
    resolve(&name, &root, &mut texts, Strings::default())
}

/// Every definition in the text, one per line.
fn check(text: &str) -> String {
    match resolve_texts(text) {
        Ok(module) => dump(&module),
        Err(errors) => panic!("{}", show(&errors)),
    }
}

/// The errors, with their related locations and help.
fn check_errors(text: &str) -> String {
    match resolve_texts(text) {
        Ok(module) => panic!("no error in\n{}", dump(&module)),
        Err(errors) => show(&errors),
    }
}

fn show(errors: &Errors) -> String {
    let mut text = String::new();
    for problem in &errors.errors {
        let source = errors.sources.get(problem.source);
        let diagnostic = &problem.diagnostic;
        let words = diagnostic.span.of(&source.text);
        let _ = writeln!(text, "{} `{words}`: {}", source.name, diagnostic.message);
        let here = diagnostic.related.iter().map(|(span, label)| (problem.source, span, label));
        let there = problem.related.iter().map(|(site, label)| (site.source, &site.span, label));
        for (source, span, label) in here.chain(there) {
            let source = errors.sources.get(source);
            let position = omnilink_tla_syntax::Position::of(&source.text, span.start);
            let _ = writeln!(text, "  {}:{} `{}`: {label}", source.name, position.line, span.of(&source.text));
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(text, "  help: {help}");
        }
    }
    text
}

fn dump(module: &Module) -> String {
    let mut text = String::new();
    for (index, definition) in module.definitions.iter().enumerate() {
        if let Body::Native(_) = definition.body {
            continue;
        }
        let params = definition.params.iter().map(|param| match param.arity {
            0 => param.name.clone(),
            arity => format!("{}/{arity}", param.name),
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let _ = write!(text, "{}({params})", definition.name);
        let _ = write!(text, " {:?}", definition.level);
        if definition.is_recursive {
            text.push_str(" recursive");
        }
        let body = match definition.body {
            Body::Expr(body) => Dump(module).expr(body),
            _ => "?".to_owned(),
        };
        let _ = writeln!(text, " {} slots: {body}", definition.slots);
        assert!(definition.params.len() <= definition.slots, "definition {index} has room for its parameters");
    }
    for (name, expr) in &module.assumptions {
        let _ = writeln!(text, "ASSUME {name:?} {}", Dump(module).expr(*expr));
    }
    text
}

struct Dump<'a>(&'a Module);

impl Dump<'_> {
    fn def(&self, def: DefId) -> &str {
        &self.0.definitions[def.0 as usize].name
    }

    fn args(&self, args: &[Arg]) -> String {
        let arg = |arg: &Arg| match arg {
            Arg::Expr(expr) => self.expr(*expr),
            Arg::Slot(slot) => format!("^{}", slot.0),
            Arg::Operator(def, slots) => {
                let slots: Vec<String> = slots.iter().map(|slot| slot.0.to_string()).collect();
                format!("{}<{}>", self.def(*def), slots.join(" "))
            }
        };
        args.iter().map(arg).collect::<Vec<_>>().join(", ")
    }

    fn bounds(&self, bounds: &[Bound]) -> String {
        let bound = |bound: &Bound| match &bound.pattern {
            Pattern::Slot(slot) => format!("{} in {}", slot.0, self.expr(bound.set)),
            Pattern::Tuple(slots) => {
                let slots: Vec<String> = slots.iter().map(|slot| slot.0.to_string()).collect();
                format!("<<{}>> in {}", slots.join(" "), self.expr(bound.set))
            }
        };
        bounds.iter().map(bound).collect::<Vec<_>>().join(", ")
    }

    fn list(&self, word: &str, parts: &[ExprId]) -> String {
        format!("{word}({})", parts.iter().map(|part| self.expr(*part)).collect::<Vec<_>>().join(", "))
    }

    fn expr(&self, expr: ExprId) -> String {
        let strings = &self.0.strings;
        match self.0.exprs.node(expr) {
            Node::Value(Value::Str(string)) => format!("{:?}", strings.text(string)),
            Node::Value(Value::Bool(value)) => value.to_string(),
            Node::Value(Value::Int(value)) => value.to_string(),
            Node::Value(value) => format!("{value:?}"),
            Node::Strings => "STRING".to_owned(),
            Node::Arithmetic(..) | Node::Inlined { .. } | Node::Shaped(..) | Node::Idiom(..) => {
                unreachable!("only linking makes these")
            }
            Node::Variable(var) => self.0.variables[var.0 as usize].name.clone(),
            Node::Local(slot) => format!("${}", slot.0),
            Node::Argument(slot) => format!("%{}", slot.0),
            Node::Let { slot, value, body } => {
                format!("let {} = {} in {}", slot.0, self.expr(*value), self.expr(*body))
            }
            Node::Call { def, args } if args.is_empty() => self.def(*def).to_owned(),
            Node::Call { def, args } => format!("{}({})", self.def(*def), self.args(args)),
            Node::CallArgument { slot, args } => format!("%{}({})", slot.0, self.args(args)),
            Node::And(parts) => self.list("and", parts),
            Node::Or(parts) => self.list("or", parts),
            Node::Not(a) => self.list("not", &[*a]),
            Node::Implies(a, b) => self.list("implies", &[*a, *b]),
            Node::Equivalent(a, b) => self.list("equivalent", &[*a, *b]),
            Node::Equal(a, b) => self.list("=", &[*a, *b]),
            Node::NotEqual(a, b) => self.list("/=", &[*a, *b]),
            Node::In(a, b) => self.list("in", &[*a, *b]),
            Node::NotIn(a, b) => self.list("notin", &[*a, *b]),
            Node::Subseteq(a, b) => self.list("subseteq", &[*a, *b]),
            Node::Cup(a, b) => self.list("cup", &[*a, *b]),
            Node::Cap(a, b) => self.list("cap", &[*a, *b]),
            Node::Minus(a, b) => self.list("minus", &[*a, *b]),
            Node::Subsets(a) => self.list("subsets", &[*a]),
            Node::Union(a) => self.list("union", &[*a]),
            Node::Domain(a) => self.list("domain", &[*a]),
            Node::If(a, b, c) => self.list("if", &[*a, *b, *c]),
            Node::Case { arms, other } => {
                let mut parts: Vec<ExprId> = arms.iter().flat_map(|(guard, value)| [*guard, *value]).collect();
                parts.extend(other);
                self.list("case", &parts)
            }
            Node::Forall { bounds, body } => format!("all({} : {})", self.bounds(bounds), self.expr(*body)),
            Node::Exists { bounds, body } => format!("some({} : {})", self.bounds(bounds), self.expr(*body)),
            Node::Choose { bound, body } => {
                format!("choose({} : {})", self.bounds(std::slice::from_ref(bound)), self.expr(*body))
            }
            Node::Filter { bound, body } => {
                format!("filter({} : {})", self.bounds(std::slice::from_ref(bound)), self.expr(*body))
            }
            Node::Map { bounds, body } => format!("map({} : {})", self.bounds(bounds), self.expr(*body)),
            Node::Function { bounds, body, this } => {
                let this = this.map_or(String::new(), |slot| format!(" this {}", slot.0));
                format!("function{this}({} : {})", self.bounds(bounds), self.expr(*body))
            }
            Node::Set(parts) => self.list("set", parts),
            Node::Tuple(parts) => self.list("tuple", parts),
            Node::Product(parts) => self.list("product", parts),
            Node::Functions(a, b) => self.list("functions", &[*a, *b]),
            Node::Apply(a, b) => self.list("at", &[*a, *b]),
            Node::Except { function, updates } => {
                let mut text = format!("except({}", self.expr(*function));
                for update in updates {
                    let _ = write!(text, "; @{} ", update.at.0);
                    for step in &update.path {
                        let _ = match step {
                            Step::Index(index) => write!(text, "[{}]", self.expr(*index)),
                            Step::Field(field) => write!(text, ".{}", strings.text(field)),
                        };
                    }
                    let _ = write!(text, " = {}", self.expr(update.value));
                }
                text + ")"
            }
            Node::Record(fields) | Node::Records(fields) => {
                let field = |(name, value): &(_, ExprId)| format!("{}: {}", strings.text(name), self.expr(*value));
                format!("record({})", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            Node::Field(record, name) => format!("{}.{}", self.expr(*record), strings.text(name)),
            Node::Prime(a) => self.list("prime", &[*a]),
            Node::Unchanged(a) => self.list("unchanged", &[*a]),
            Node::Enabled(a, _) => self.list("enabled", &[*a]),
            Node::Square(a, b) => self.list("square", &[*a, *b]),
            Node::Angle(a, b) => self.list("angle", &[*a, *b]),
            Node::Compose(a, b) => self.list("compose", &[*a, *b]),
            Node::Always(a) => self.list("always", &[*a]),
            Node::Unsupported { what, parts } => self.list(&format!("unsupported {what:?}"), parts),
        }
    }
}
