//! Plans read from specifications, and files generated in each language.

use std::fs;
use std::path::{Path, PathBuf};

use omnilink_harness::{Files, Plan, cpp, drift, function, read_header, rust, unfilled};
use omnilink_settings::Settings;
use omnilink_tla::program::{LinkOptions, Program, link};
use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::strings::Strings;
use omnilink_validate::Problem;

/// Loads no modules besides the built-in ones.
struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

fn program(name: &str, text: &str, config: &str) -> Program {
    let mut strings = Strings::default();
    let config = omnilink_tla::config::parse(config, &mut strings).expect("a configuration");
    let module = resolve(name, text, &mut Nothing, strings).expect("a module");
    link(module, &config, LinkOptions::default()).expect("a program")
}

fn plan(program: &Program, settings: &str) -> Result<Plan, Vec<Problem>> {
    Plan::new(program, &Settings::parse(settings).expect("settings"))
}

/// The plan of a small specification with two variables, or its problems.
fn check(actions: &str, next: &str, settings: &str) -> String {
    let text = format!(
        "---- MODULE Small ----\nEXTENDS Integers, Sequences\nVARIABLES q, x\nInit == q = <<>> /\\ x = 0\n\
         Keep == UNCHANGED <<q, x>>\n{actions}\nNext == {next}\n====\n"
    );
    let program = program("Small.tla", &text, "INIT Init\nNEXT Next\n");
    match plan(&program, settings) {
        Ok(plan) => plan.lines().join("\n"),
        Err(problems) => problems.iter().map(|problem| render(&program, problem)).collect::<Vec<_>>().join("\n"),
    }
}

fn render(program: &Program, problem: &Problem) -> String {
    let sources = &program.module.sources;
    let place = problem.place.as_ref().map(|(site, label)| format!("\n  at `{}`: {label}", sources.words(*site)));
    let help = problem.help.as_ref().map(|help| format!("\n  help: {help}"));
    format!("{}{}{}", problem.message, place.unwrap_or_default(), help.unwrap_or_default())
}

#[test]
fn an_equation_with_the_state_determines_a_result() {
    let actions = r"
        Left(a) == a = Head(q) /\ Keep
        Right(a) == x = a /\ Keep
        Truth(a, ok) == (ok <=> x = a) /\ Keep
        Branch(a, ok) == IF x = a THEN ok = TRUE /\ Keep ELSE ok = FALSE /\ Keep
        Ways(a, ok) == \/ x = a /\ ok = TRUE /\ Keep
                       \/ x # a /\ ok = FALSE /\ Keep
        Inner(a) == LET b == x + 1 IN \E c \in {1} : a = b + c /\ Keep
        Asked(a) == a = 1 /\ Keep";
    let next = r"\E a \in 0 .. 9, ok \in BOOLEAN : \/ Left(a) \/ Right(a) \/ Truth(a, ok) \/ Branch(a, ok) \/ Ways(a, ok)
                                                   \/ Inner(a) \/ Asked(a)";
    insta::assert_snapshot!(check(actions, next, ""), @"
    call Left: Left() = a: integer
    call Right: Right(a: integer)
    call Truth: Truth(a: integer) = ok: boolean
    call Branch: Branch(a: integer) = ok: boolean
    call Ways: Ways(a: integer) = ok: boolean
    call Inner: Inner() = a: integer
    call Asked: Asked(a: integer)
    ");
}

#[test]
fn outcomes_are_grouped_by_name_unless_the_settings_say_otherwise() {
    let actions = r"
        PutAll == Keep
        Put(k) == x' = k /\ UNCHANGED q
        PutFull(k, n) == n = x /\ Keep
        Putter == Keep
        AddNew == Keep
        AddOld == x' = 1 /\ UNCHANGED q
        Add == AddNew \/ AddOld
        Get_Step(self) == Keep
        Get_Done(self, v) == v = x /\ Keep
        Tick == Keep
        Compact == Keep";
    let next = r"\/ PutAll \/ Putter \/ Add \/ Tick \/ Compact
                 \/ \E k \in {3, 5}, n \in Nat : Put(k) \/ PutFull(k, n) \/ Get_Step(k) \/ Get_Done(k, n)";
    let quiet = "internal = [\"Tick\"]\n[harness]\nunsupported = [\"Compact\"]\n";
    insta::assert_snapshot!(check(actions, next, quiet), @"
    call Put: Put(k: integer)
    call Put: PutAll()
    call Put: PutFull(k: integer) = n: integer
    call Putter: Putter()
    call Add: AddNew()
    call Add: AddOld()
    call Get: Get() = v: integer
    unsupported Compact
    ");
    let apart = format!("{quiet}[harness.calls.PutAll]\n[harness.calls.Get]\nresults = []\n");
    insta::assert_snapshot!(check(actions, next, &apart), @"
    call PutAll: PutAll()
    call Putter: Putter()
    call Add: AddNew()
    call Add: AddOld()
    call Put: Put(k: integer)
    call Put: PutFull(k: integer) = n: integer
    call Get: Get(v: integer)
    unsupported Compact
    ");
    let listed = format!("{quiet}[harness.calls.Store]\noutcomes = [\"PutFull\", \"Put\"]\n");
    insta::assert_snapshot!(check(actions, next, &listed), @"
    call PutAll: PutAll()
    call Putter: Putter()
    call Add: AddNew()
    call Add: AddOld()
    call Store: PutFull(k: integer) = n: integer
    call Store: Put(k: integer)
    call Get: Get() = v: integer
    unsupported Compact
    ");
}

#[test]
fn operations_are_recorded_as_the_settings_map_them() {
    let settings = "[operations.put]\naction = \"Put\"\nfields = { key = \"k\" }\nany = [\"slot\"]\n";
    let next = r"\E k, slot \in 0 .. 3 : Put(k, slot)";
    insta::assert_snapshot!(check(r"Put(k, slot) == x' = k + slot /\ UNCHANGED q", next, settings), @"call Put: put(key: integer)");
}

#[test]
fn problems_have_a_location() {
    let (put, keep) = (r"Put(k) == x' = k /\ UNCHANGED q", "Tick == Keep");
    // No name, no call, no set, no type.
    insta::assert_snapshot!(check("", r"x' = 1 /\ UNCHANGED q", ""), @r"
    an action of the next-state relation has no name of its own
      at `x' = 1 /\ UNCHANGED q`: this action
      help: make it a definition, so that it has a name to record
    ");
    insta::assert_snapshot!(check(keep, "Tick", "internal = [\"Tick\"]"), @"
    the next-state relation has no action that a harness could call
      at `Next`: this
      help: a harness calls the actions that `omnilink spec actions` lists, but for those that `internal` and `unsupported` name
    ");
    insta::assert_snapshot!(check(put, "Put(x + 1)", ""), @r#"
    no set in `Next` determines the values of `Put.k`
      at `Put`: this action
      help: set the source of its values: `"Put.k" = "0..7"` under `[harness.values]` in omnilink.toml
    "#);
    insta::assert_snapshot!(check(put, r"\E k \in SUBSET {1} : Put(k)", ""), @"
    `k` of `Put` ranges over sets, which a harness cannot draw
      at `SUBSET {1}`: taken from this set
      help: list `Put` under `unsupported` of `[harness]` in omnilink.toml, or under `internal` if no call records it
    ");
    insta::assert_snapshot!(check(put, r"\E k \in Seq(Nat) : Put(k)", ""), @r#"
    `Put.k` of type sequence of integer has too many values to draw from
      at `Seq(Nat)`: `k` is taken from `Seq(Nat)`
      help: list some: `"Put.k" = [..]` under `[harness.values]` in omnilink.toml
    "#);
    // Settings about unknown names.
    insta::assert_snapshot!(check(keep, "Tick", "[harness]\nunsupported = [\"Tock\"]"), @"
    `unsupported` names `Tock`, which is not an action of the next-state relation
      help: did you mean `Tick`?
    ");
    insta::assert_snapshot!(check(keep, "Tick", "[harness.weights]\nPing = 2"), @"
    `[harness.weights]` names `Ping`, which is not a call
      help: the calls are `Tick`
    ");
    insta::assert_snapshot!(check(put, r"\E k \in Nat : Put(k)", "[harness.values]\n\"Put.k\" = \"some\""), @r#"
    invalid `Put.k` in `[harness.values]`: `some` is neither `fresh` nor a range such as `0..7`; a list is written `["a", "b"]`
      at `Nat`: `k` is taken from `Nat`
      help: set the source of its values: `"Put.k" = "0..7"` under `[harness.values]` in omnilink.toml
    "#);
    insta::assert_snapshot!(check(put, r"\E k \in Nat : Put(k)", "[harness.values]\n\"Put.k\" = [\"a\"]"), @"
    the settings give `Put.k` values of type string, expected integer
      at `Nat`: `k` is taken from `Nat`
      help: change one to match the other
    ");
    insta::assert_snapshot!(check(put, r"\E k \in Nat : Put(k)", "[harness.calls.Put]\nresults = [\"v\"]"), @"
    the settings list `v` as a result of `Put`, which has no such parameter
      at `Put`: this action
    ");
    insta::assert_snapshot!(check(keep, "Tick", "[harness.weights]\nTick = 0"), @"every call has weight 0, so none would ever be made");
}

/// The problems of a specification with constants.
fn problems(config: &str, settings: &str) -> String {
    let text = r"---- MODULE Kv ----
EXTENDS Integers
CONSTANTS Keys, NoVal
VARIABLE m
Init == m = NoVal
Put(key, value) == m' = value
Next == \E key \in Keys, value \in {NoVal, 1, 2} : Put(key, value)
====
";
    let program = program("Kv.tla", text, &format!("INIT Init\nNEXT Next\n{config}"));
    match plan(&program, settings) {
        Ok(plan) => plan.lines().join("\n"),
        Err(problems) => problems.iter().map(|problem| render(&program, problem)).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn a_constant_that_is_not_a_set_and_one_that_means_no_value() {
    insta::assert_snapshot!(problems("CONSTANT Keys = Keys NoVal = NoVal", ""), @r#"
    `key` of `Put` is taken from `Keys`, which is `Keys`, not a set
      at `Keys`: taken from this set
      help: make it a set in the configuration, such as `CONSTANT Keys = {k1, k2}`
    `value` of `Put` ranges over values of different kinds, which a harness cannot draw
      at `{NoVal, 1, 2}`: taken from this set
      help: if `NoVal` means no value, write `nil = "NoVal"` in omnilink.toml
    "#);
    let fed = "nil = \"NoVal\"\n[constants]\nKeys = [\"Put.key\"]";
    insta::assert_snapshot!(problems("CONSTANT Keys = Keys NoVal = NoVal", fed), @"call Put: Put(key: integer, value: optional integer)");
    insta::assert_snapshot!(problems("CONSTANT Keys = {k1, k2} NoVal = NoVal", "nil = \"NoVal\""), @"call Put: Put(key: string, value: optional integer)");
}

#[test]
fn a_parameter_that_no_constant_bounds_is_drawn_when_the_settings_say_how() {
    let (put, values) = (r"Put(k) == x' = k /\ UNCHANGED q", "[harness.values]\n\"Put.k\" = [\"a\", \"b\"]");
    insta::assert_snapshot!(check(put, "Put(x + 1)", values), @"call Put: Put(k: string)");
    insta::assert_snapshot!(check(put, r"\E k \in {x} : Put(k)", ""), @"call Put: Put(k: integer)");
}

/// The sources of a structure's arguments, and the advice about values that repeat.
fn sources(actions: &str, next: &str, settings: &str) -> String {
    let text = format!(
        "---- MODULE Store ----\nEXTENDS Integers, Sequences\nCONSTANTS Elems, Keys\nVARIABLE q\nInit == q = <<>>\n{actions}\n\
         Next == {next}\n====\n"
    );
    let config = "INIT Init\nNEXT Next\nCONSTANT Elems = {1, 2} Keys = {7, 8}\n";
    let plan = plan(&program("Store.tla", &text, config), settings).expect("a plan");
    let arguments = plan.calls.iter().flat_map(|call| {
        call.arguments.iter().map(|argument| format!("{}.{}: {:?}", call.name, argument.field.name, argument.source))
    });
    let repeated = plan.repeated.iter().map(|repeated| format!("{} repeats: {:?}", repeated.argument, repeated.fields));
    arguments.chain(repeated).collect::<Vec<_>>().join("\n")
}

#[test]
fn values_that_only_one_call_adds_are_drawn_once() {
    let queue = r"Put(e) == q' = Append(q, e)
        Take(e) == q # <<>> /\ e = Head(q) /\ q' = Tail(q)";
    let next = r"\E e \in Elems : Put(e) \/ Take(e)";
    let fed = "[constants]\nElems = [\"*.e\"]";
    insta::assert_snapshot!(sources(queue, next, ""), @r#"
    Put.e: Range(1, 2)
    Put.e repeats: ["Put.e", "Take.e"]
    "#);
    insta::assert_snapshot!(sources(queue, next, fed), @"Put.e: Fresh");
    insta::assert_snapshot!(sources(queue, r"\E e \in Nat : Put(e) \/ Take(e)", ""), @"Put.e: Fresh");
    let given = format!("{fed}\n[harness.values]\n\"Put.e\" = \"0..3\"");
    insta::assert_snapshot!(sources(queue, next, &given), @"Put.e: Range(0, 3)");
    // Nothing returns an element, or another call has one as an argument: it has to meet an equal one.
    let drop = r"Put(e) == q' = Append(q, e)
        Drop == q # <<>> /\ q' = Tail(q)";
    insta::assert_snapshot!(sources(drop, r"Drop \/ \E e \in Elems : Put(e)", fed), @"Put.e: Range(1, 2)");
    let find = format!("{queue}\nFind(e) == (\\E i \\in DOMAIN q : q[i] = e) /\\ UNCHANGED q");
    insta::assert_snapshot!(sources(&find, r"\E e \in Elems : Put(e) \/ Take(e) \/ Find(e)", fed), @"
    Put.e: Range(1, 2)
    Find.e: Range(1, 2)
    ");
}

#[test]
fn constants_are_fed_by_the_fields_that_are_taken_from_them() {
    let text = "---- MODULE Kv ----\nCONSTANTS Keys, Values, Clients, Nil\nVARIABLE m\nInit == m = Nil\n\
                Put(self, key, value) == m' = <<key, value>>\nGet(self, key, value) == value = m[2] /\\ UNCHANGED m\n\
                Next == \\E self \\in Clients, key \\in Keys : (\\E value \\in Values : Put(self, key, value)) \\/\n\
                (\\E value \\in Values \\cup {Nil} : Get(self, key, value))\n====\n";
    let config = "INIT Init\nNEXT Next\nCONSTANT Nil = Nil Keys = {} Values = {} Clients = {}\n";
    let plan = plan(&program("Kv.tla", text, config), "").expect("a plan");
    assert_eq!(plan.feeds("Keys"), ["Put.key", "Get.key"]);
    assert_eq!(plan.feeds("Values"), ["Put.value", "Get.value"]);
    assert_eq!(plan.feeds("Clients"), ["process"]);
    assert!(plan.feeds("Other").is_empty());
}

#[test]
fn the_state_of_a_harness_is_read_from_its_files() {
    let program = program(
        "Q.tla",
        "---- MODULE Q ----\nVARIABLE x\nInit == x = 0\nPut(k) == x' = k\nNext == \\E k \\in {1, 2} : Put(k)\n====\n",
        "INIT Init\nNEXT Next\n",
    );
    let plan = plan(&program, "").expect("a plan");
    for files in [rust::files(&plan), cpp::files(&plan)] {
        let header = read_header(&files.operations).expect("a header");
        assert_eq!((header.spec.as_str(), header.digest), ("Q.tla", plan.digest()));
        assert_eq!(unfilled(&files.main), ["put"]);
        assert_eq!(function(&plan.calls[0]), "put");
        assert_eq!(read_header(&files.main), None);
        assert!(unfilled(&files.main.replace("operations::todo", "// operations::todo")).is_empty());
    }
}

#[test]
fn drift_is_reported_by_outcome() {
    let before = r"Put(k) == x' = k /\ UNCHANGED q";
    let text = |actions: &str, next: &str, settings: &str| {
        let text = format!(
            "---- MODULE S ----\nEXTENDS Integers\nVARIABLES q, x\nInit == q = 0 /\\ x = 0\n{actions}\nNext == {next}\n====\n"
        );
        let plan = plan(&program("S.tla", &text, "INIT Init\nNEXT Next\n"), settings).expect("a plan");
        let text = rust::files(&plan).operations;
        (plan, text)
    };
    let (_, written) = text(before, r"\E k \in 0 .. 3 : Put(k)", "");
    let told = |actions: &str, next: &str, settings: &str| {
        let (plan, now) = text(actions, next, settings);
        format!("{:?}", drift(&plan, &written, &now))
    };
    insta::assert_snapshot!(told(before, r"\E k \in 0 .. 3 : Put(k)", ""), @"None");
    insta::assert_snapshot!(told(before, r"\E k \in 0 .. 4 : Put(k)", ""), @"Some(Code)");
    insta::assert_snapshot!(told(before, r#"\E k \in {"a"} : Put(k)"#, ""), @r#"Some(Calls(["changed: call Put: Put(k: string), was Put(k: integer)"]))"#);
    insta::assert_snapshot!(told(r"Get(v) == v = x /\ UNCHANGED <<q, x>>", r"\E v \in 0 .. 3 : Get(v)", ""), @r#"Some(Calls(["added: call Get: Get() = v: integer", "removed: call Put: Put(k: integer)"]))"#);
    let (plan, now) = text(before, r"\E k \in 0 .. 3 : Put(k)", "");
    insta::assert_snapshot!(format!("{:?}", drift(&plan, "fn main() {}", &now)), @"Some(Foreign)");
}

/// The files generated for a specification in a directory with its configuration.
fn generated(directory: &Path, module: &str) -> [Files; 2] {
    let read = |name: String| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let program = program(&format!("{module}.tla"), &read(format!("{module}.tla")), &read(format!("{module}.cfg")));
    let plan = plan(&program, &read("omnilink.toml".into())).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|problem| render(&program, problem)).collect::<Vec<_>>().join("\n"))
    });
    [rust::files(&plan), cpp::files(&plan)]
}

fn check_files(directory: PathBuf, module: &str) {
    for files in generated(&directory, module) {
        let name = format!("{module}_{}", files.operations_name.rsplit('.').next().unwrap_or_default());
        insta::assert_snapshot!(name, format!("{}\n{}", files.operations, files.main));
    }
}

#[test]
fn harnesses_of_examples() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (example, module) in
        [("queue", "Queue"), ("map", "Map"), ("producer-queue", "ProducerQueue"), ("two-phase", "TwoPhase")]
    {
        check_files(examples.join(example), module);
    }
    check_files(Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data"), "Hostile");
}
