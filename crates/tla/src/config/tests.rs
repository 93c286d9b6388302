//! Configurations, accepted and rejected.

use std::fmt::Write as _;

use super::*;

fn check(text: &str) -> String {
    let mut strings = Strings::default();
    let mut out = String::new();
    match parse(text, &mut strings) {
        Ok(config) => {
            for assignment in &config.constants {
                let _ = writeln!(out, "{}", shown(assignment, &strings));
            }
            let one = [
                ("init", &config.init),
                ("next", &config.next),
                ("specification", &config.specification),
                ("view", &config.view),
                ("symmetry", &config.symmetry),
                ("alias", &config.alias),
            ];
            for (word, name) in one {
                if let Some(name) = name {
                    let _ = writeln!(out, "{word} {}", name.span.of(text));
                }
            }
            let many = [
                ("invariants", &config.invariants),
                ("properties", &config.properties),
                ("constraints", &config.constraints),
                ("action constraints", &config.action_constraints),
                ("postconditions", &config.postconditions),
                ("ignored", &config.ignored),
            ];
            for (word, names) in many {
                if !names.is_empty() {
                    let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
                    let _ = writeln!(out, "{word} {}", names.join(" "));
                }
            }
            if let Some(is_checked) = config.check_deadlock {
                let _ = writeln!(out, "deadlock {is_checked}");
            }
        }
        Err(errors) => {
            for error in errors {
                let at = omnilink_tla_syntax::Position::of(text, error.span.start);
                let help = error.help.map(|help| format!(" ({help})")).unwrap_or_default();
                let _ = writeln!(out, "{}:{}: {}{help}", at.line, at.column, error.message);
            }
        }
    }
    out
}

fn shown(assignment: &Assignment, strings: &Strings) -> String {
    let module = assignment.module.as_ref().map(|module| format!("[{}] ", module.text)).unwrap_or_default();
    let args = assignment.args.as_ref().map(|args| format!("({})", list(args, strings))).unwrap_or_default();
    match &assignment.meaning {
        Meaning::Value(value) => format!("{}{args} = {module}{}", assignment.name.text, literal(value, strings)),
        Meaning::Definition(name) => format!("{} <- {module}{}", assignment.name.text, name.text),
    }
}

fn list(literals: &[Literal], strings: &Strings) -> String {
    literals.iter().map(|element| literal(element, strings)).collect::<Vec<_>>().join(", ")
}

fn literal(value: &Literal, strings: &Strings) -> String {
    match &value.kind {
        LiteralKind::Bool(truth) => truth.to_string(),
        LiteralKind::Int(number) => number.to_string(),
        LiteralKind::Str(string) => format!("{:?}", strings.text(string)),
        LiteralKind::Model(model) => {
            let class = if model.class == 0 { String::new() } else { format!(":{}", model.class as char) };
            format!("{}#{}{class}", strings.text(&Str::Known(model.name)), model.name)
        }
        LiteralKind::Set(elements) => format!("{{{}}}", list(elements, strings)),
        LiteralKind::Tuple(elements) => format!("<<{}>>", list(elements, strings)),
        LiteralKind::Computed(value) => value.display(strings).to_string(),
    }
}

#[test]
fn every_section() {
    let text = r#"
        \* a comment, and (* one in
        CONSTANTS N = 3  Proc = {p1, p2, {"s", TRUE}}   (* nested (* comments *) *)
          Low = -1  Pair = <<a, 1>>
        CONSTANT Op <- MyOp   I!Op <- B   Foo <- [Mod] Bar  Baz = [Mod] {}  F(1, a) = FALSE
        SPECIFICATION Spec
        INVARIANTS TypeOK Safe
        INVARIANT I!Inv
        PROPERTY Live
        CONSTRAINT C ACTION_CONSTRAINTS A B
        VIEW V SYMMETRY S ALIAS Al POSTCONDITION Post CHECK_DEADLOCK FALSE _PERIODIC P
    "#;
    insta::assert_snapshot!(check(text), @r#"
    N = 3
    Proc = {p1#0, p2#1, {"s", true}}
    Low = -1
    Pair = <<a#3, 1>>
    Op <- MyOp
    I!Op <- B
    Foo <- [Mod] Bar
    Baz = [Mod] {}
    F(1, a#3) = false
    specification Spec
    view V
    symmetry S
    alias Al
    invariants TypeOK Safe I!Inv
    properties Live
    constraints C
    action constraints A B
    postconditions Post
    ignored _PERIODIC
    deadlock false
    "#);
}

#[test]
fn model_values_have_the_type_of_their_letter() {
    insta::assert_snapshot!(check("CONSTANT A = p_1 B = p_ C = pp_1 D = {p_1, q_x}"), @r"
    A = p_1#0:p
    B = p_#1
    C = pp_1#2
    D = {p_1#0:p, q_x#3:q}
    ");
}

#[test]
fn all_errors_at_once() {
    let text = "INVARIENT Inv\nCONSTANTS N 3\n  M = \"a\n  K = {1, 2\nINIT Init\nINIT Again\nCHECK_DEADLOCK yes\nNEXT";
    insta::assert_snapshot!(check(text), @r"
    1:1: `INVARIENT` is not a keyword of a configuration (did you mean `INVARIANT`?)
    2:13: `N` must be followed by `=` or `<-` (`N = N` makes `N` a model value)
    3:7: this string does not end
    5:1: expected `,` or `}`, found `INIT`
    6:1: `INIT` appears twice
    7:16: `CHECK_DEADLOCK` is either `TRUE` or `FALSE`
    8:5: a name must follow `NEXT`
    ");
}

#[test]
fn a_misspelt_keyword_after_constants() {
    insta::assert_snapshot!(check("CONSTANTS N = 3\nINVARIENT TypeOK\nINVARIANTS A, B"), @r"
    2:1: `INVARIENT` is not a keyword of a configuration (did you mean `INVARIANT`?)
    3:13: names are separated by spaces
    ");
}

#[test]
fn invalid_values() {
    insta::assert_snapshot!(check("CONSTANT A = } B = 99999999999 C = 1 (* open"), @r"
    1:14: `}` is not a value (write a number, a string, `TRUE`, `FALSE`, a name, or a set of these)
    1:20: `99999999999` does not fit into 32 bits
    1:38: this comment does not end
    ");
}

#[test]
fn recorded_strings_become_model_values_where_a_constant_had_them() {
    let mut strings = Strings::default();
    let mut config = parse("CONSTANTS W = {w0, w1} N = {\"w0\"} M = {<<w0, 1>>} E = {}", &mut strings).expect("a .cfg");
    let text = |strings: &mut Strings, text: &str| Value::Str(strings.intern(text));
    let set = |elements: Vec<Value>| Value::set(elements).expect("a set");
    let recorded = vec![
        ("W".to_owned(), set(vec![text(&mut strings, "w0"), text(&mut strings, "w5")])),
        ("N".to_owned(), set(vec![text(&mut strings, "w5"), text(&mut strings, "other")])),
        ("M".to_owned(), set(vec![Value::seq(vec![text(&mut strings, "w6"), Value::Int(2)])])),
        ("E".to_owned(), set(vec![Value::Int(7)])),
    ];
    let given = config.give_recorded(recorded, &mut strings).map_err(|(name, error)| format!("{name}: {error}"));
    assert!(given.is_ok_and(|given| given.len() == 4));
    let models = config.models(&strings);
    let mut names: Vec<&str> = models.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["w0", "w5", "w6"]);
    let shown = |name: &str| match &config.constants.iter().find(|given| given.name.text == name).expect(name).meaning {
        Meaning::Value(Literal { kind: LiteralKind::Computed(value), .. }) => value.display(&strings).to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(["W", "N", "M", "E"].map(shown).join(" "), "{w0, w5} {w5, \"other\"} {<<w6, 2>>} {7}");
}
