//! Hand-built modules, linked with configurations.

use std::fmt::Write as _;

use super::*;
use crate::config;
use crate::ir::{Bound, Exprs, Param, Pattern, SlotId, VarId, Variable};
use crate::strings::Strings;

/// A hand-built module, one definition at a time.
struct Builder {
    module: Module,
}

impl Builder {
    fn new() -> Builder {
        let variable = Variable { name: "x".into(), site: Site::default() };
        let mut sources = Sources::default();
        sources.add("M", "");
        Builder {
            module: Module {
                name: "M".into(),
                sources,
                strings: Strings::default(),
                variables: vec![variable],
                definitions: Vec::new(),
                exprs: Exprs::default(),
                names: Default::default(),
                assumptions: Vec::new(),
                warnings: Vec::new(),
                context: Default::default(),
            },
        }
    }

    fn expr(&mut self, node: Node) -> ExprId {
        self.module.exprs.push(node, Site::default())
    }

    fn define(&mut self, name: &str, params: &[&str], level: ExprLevel, body: Body) -> DefId {
        let def = DefId(self.module.definitions.len() as u32);
        self.module.definitions.push(Definition {
            name: name.into(),
            module: "M".into(),
            params: params.iter().map(|name| Param { name: (*name).into(), arity: 0 }).collect(),
            captures: 0,
            body,
            slots: params.len(),
            level,
            is_recursive: false,
            site: Site::default(),
        });
        self.module.names.insert(name.into(), def);
        def
    }

    fn call(&mut self, def: DefId) -> ExprId {
        self.expr(Node::Call { def, args: Box::new([]) })
    }
}

/// `CONSTANT N, F(_)`, `Init == x`, `Next == x'`, `Inv == x`, `Spec == Init /\ [][Next]_x /\ WF`, `Small == TRUE`,
/// `Live == <>x`, `Bare == Init`, `Uses == N`.
fn module() -> Module {
    let mut builder = Builder::new();
    let x = builder.expr(Node::Variable(VarId(0)));
    let x_next = builder.expr(Node::Prime(x));
    let always_true = builder.expr(Node::Value(crate::value::Value::Bool(true)));
    builder.define("N", &[], ExprLevel::Constant, Body::Declared);
    builder.define("F", &["a"], ExprLevel::Constant, Body::Declared);
    let init = builder.define("Init", &[], ExprLevel::State, Body::Expr(x));
    let next = builder.define("Next", &[], ExprLevel::Action, Body::Expr(x_next));
    builder.define("Inv", &[], ExprLevel::State, Body::Expr(x));
    builder.define("Small", &[], ExprLevel::Constant, Body::Expr(always_true));
    builder.define("Plus", &["a"], ExprLevel::Constant, Body::Expr(always_true));
    let (init, next) = (builder.call(init), builder.call(next));
    let square = builder.expr(Node::Square(next, x));
    let always = builder.expr(Node::Always(square));
    let fair = builder.expr(Node::Unsupported { what: "WF_v(A)", parts: Box::new([]) });
    let live = builder.expr(Node::Unsupported { what: "<>", parts: Box::new([x]) });
    let spec = builder.expr(Node::And(Box::new([init, always, fair])));
    builder.define("Spec", &[], ExprLevel::Temporal, Body::Expr(spec));
    builder.define("Live", &[], ExprLevel::Temporal, Body::Expr(live));
    builder.define("Bare", &[], ExprLevel::State, Body::Expr(init));
    let n = builder.call(DefId(0));
    builder.define("Uses", &[], ExprLevel::Constant, Body::Expr(n));
    builder.module
}

fn check_with(text: &str, options: LinkOptions) -> String {
    let module = module();
    let config = config::parse(text, &mut module.strings.clone()).expect("a configuration without errors");
    let mut out = String::new();
    match link(module, &config, options) {
        Ok(program) => {
            let name = |entry: &ExprId| match program.module.exprs.node(*entry) {
                Node::Call { def, .. } => program.definition(*def).name.clone(),
                node => format!("{node:?}"),
            };
            let _ =
                writeln!(out, "init {:?} next {:?}", program.init.as_ref().map(name), program.next.as_ref().map(name));
            for (inv, entry) in &program.invariants {
                let _ = writeln!(out, "invariant {inv}: {}", name(entry));
            }
            let uses = program.module.names["Uses"];
            let body = program.module.exprs.node(program.body(uses).expect("defined above")).clone();
            let target = match body {
                Node::Call { def, .. } | Node::Inlined { def, .. } => program.definition(def),
                _ => unreachable!("`Uses` is a call"),
            };
            let value = match target.body {
                Body::Expr(body) => format!("{:?}", program.module.exprs.node(body)),
                _ => "nothing".into(),
            };
            let level = program.definition(uses).level;
            let _ = writeln!(out, "N is {} {value}, fairness {}, level {level:?}", target.name, program.has_fairness);
            for warning in &program.warnings {
                let _ = writeln!(out, "warning: {}", warning.message);
            }
        }
        Err(errors) => {
            for error in errors.errors {
                let at = match error.place {
                    Place::Config(span) => format!("`{}`", span.of(text)),
                    place => format!("{place:?}"),
                };
                let help = error.help.map(|help| format!(" ({help})")).unwrap_or_default();
                let _ = writeln!(out, "{at}: {}{help}", error.message);
            }
        }
    }
    out
}

fn check(text: &str) -> String {
    check_with(text, LinkOptions::default())
}

#[test]
fn a_specification_is_taken_apart() {
    insta::assert_snapshot!(check("SPECIFICATION Spec CONSTANTS N = 1 F <- Plus INVARIANT Inv"), @r#"
    init Some("Init") next Some("Next")
    invariant Inv: Inv
    N is N Value(Int(1)), fairness true, level Constant
    "#);
}

#[test]
fn names_replace_names() {
    insta::assert_snapshot!(check("INIT Init NEXT Next CONSTANTS N <- Inv F(1) = 2 F(2) = 3"), @r#"
    init Some("Init") next Some("Next")
    N is Inv Variable(VarId(0)), fairness false, level State
    "#);
}

#[test]
fn all_errors_at_once() {
    let text = "SPECIFICATION Spec INIT Init CONSTANTS N <- Plus Smal = 3 Gone <- Inv INVARIANTS Next Inw Plus INVARIENT \
                PROPERTY Live VIEW Spec SYMMETRY Inv";
    insta::assert_snapshot!(check(text), @r"
    `Plus`: `N` takes no arguments, and `Plus` takes one argument
    `Gone`: the module has no constant or definition `Gone`
    Missing: the constant `F` has no value (add a line `CONSTANT F <- Op`, where `Op` takes one argument)
    `Init`: `INIT` and `SPECIFICATION` exclude each other
    `Next`: `Next` depends on two states, but an invariant may depend on one state only
    `Inw`: the module does not define the invariant `Inw` (did you mean `Inv`?)
    `Plus`: `Plus` has parameters, and an invariant has none
    `INVARIENT`: the module does not define the invariant `INVARIENT` (did you mean the keyword `INVARIANT`?)
    `Spec`: `Spec` depends on whole behaviors, but a view may depend on one state only
    `Inv`: `Inv` depends on a state, but a symmetry may depend on constants only
    `Live`: liveness is not checked, and property `Live` has the conjunct `` (pass `--skip-liveness` to check the rest of the property, or `--skip-properties` to check none)
    ");
}

#[test]
fn properties_are_skipped_on_purpose_only() {
    let text = "SPECIFICATION Spec CONSTANTS N = 1 F <- Plus PROPERTY Live CHECK_DEADLOCK FALSE";
    let options = LinkOptions { skip_properties: true, ..LinkOptions::default() };
    insta::assert_snapshot!(check_with(text, options), @r#"
    init Some("Init") next Some("Next")
    N is N Value(Int(1)), fairness true, level Constant
    warning: property `Live` was not checked
    "#);
}

#[test]
fn nothing_to_check() {
    insta::assert_snapshot!(check("CONSTANTS N = 1 F <- Plus"), @"Missing: the configuration does not say what to check (add a line `SPECIFICATION Spec`)");
    insta::assert_snapshot!(check("SPECIFICATION Bare CONSTANTS N = 1 F <- Plus"), @r"`Bare`: `Bare` has no next-state relation of the form `[][Next]_vars` (a specification has the form `Init /\ [][Next]_vars`, with fairness if need be)");
}

#[test]
fn actions_have_names_and_parameters() {
    let text = r"\E p, q \in Proc : Send(p, q + 1) \/ x' = p";
    let mut builder = Builder::new();
    let source = builder.module.sources.add("M", text);
    let site = |words: &str| {
        let start = text.find(words).expect("the words are in the text") as u32;
        Site { source, span: Span { start, end: start + words.len() as u32 } }
    };
    let local = builder.module.exprs.push(Node::Local(SlotId(0)), site("p,"));
    let sum = builder.module.exprs.push(Node::Local(SlotId(9)), site("q + 1"));
    let set = builder.module.exprs.push(Node::Local(SlotId(8)), site("Proc"));
    let change = builder.module.exprs.push(Node::Prime(local), site("x' = p"));
    let send = builder.define("Send", &["self", "n"], ExprLevel::Action, Body::Expr(change));
    let args: Box<[crate::ir::Arg]> = Box::new([crate::ir::Arg::Expr(local), crate::ir::Arg::Expr(sum)]);
    let call = builder.expr(Node::Call { def: send, args });
    let either = builder.expr(Node::Or(Box::new([call, change])));
    let bounds = [(0, "p"), (1, "q")].map(|(slot, name)| {
        let names = Box::new([name.to_owned()]);
        Bound { pattern: Pattern::Slot(SlotId(slot)), names, set }
    });
    let exists = builder.module.exprs.push(Node::Exists { bounds: Box::new(bounds), body: either }, site(text));
    builder.define("Next", &[], ExprLevel::Action, Body::Expr(exists));
    builder.define("Init", &[], ExprLevel::State, Body::Expr(set));
    let config = config::parse("INIT Init NEXT Next", &mut Strings::default()).expect("a correct configuration");
    let program = link(builder.module, &config, LinkOptions::default()).expect("a module that fits");
    let mut out = String::new();
    for action in program.actions {
        let _ = writeln!(out, "{} {:?} at {}", action.name, action.params, program.module.sources.words(action.site));
    }
    insta::assert_snapshot!(out, @r#"
    Send [("self", "Proc"), ("n", "q + 1")] at x' = p
    Next [("p", "Proc"), ("q", "Proc")] at x' = p
    "#);
}
