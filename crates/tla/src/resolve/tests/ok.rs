//! Specifications that resolve, and their resolved form.

use super::*;

#[test]
fn operators_take_values_and_operators() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANTS N, F(_)
VARIABLE x
A(a, op(_, _)) == op(a, x)
Cups == A(N, \cup)
Lambdas == A(2, LAMBDA p, q : p = F(q))
Hands(op(_, _)) == A(1, op)
A2(p, q) == p
Defined == Hands(A2)
"#
        ),
        @r"
    N() Constant 0 slots: ?
    F(_1) Constant 1 slots: ?
    A(a, op/2) State 2 slots: %1(%0, x)
    Cups() State 0 slots: A(N, LAMBDA<>)
    LAMBDA(_1, _2) Constant 2 slots: cup(%0, %1)
    Lambdas() State 0 slots: A(2, LAMBDA<>)
    LAMBDA(p, q) Constant 2 slots: =(%0, F(%1))
    Hands(op/2) State 1 slots: A(1, ^0)
    A2(p, q) Constant 2 slots: %0
    Defined() State 0 slots: Hands(A2<>)
    "
    );
}

#[test]
fn bound_names_have_slots_of_their_own() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
Quantified == \A i, j \in N, <<k, l>> \in N : i = j /\ k = l
Siblings == {i \in N : TRUE} \cup {i : i \in N}
Chosen == CHOOSE i \in N : i = 1
"#
        ),
        @r"
    N() Constant 0 slots: ?
    Quantified() Constant 4 slots: all(0 in N, 1 in N, <<2 3>> in N : and(=($0, $1), =($2, $3)))
    Siblings() Constant 2 slots: cup(filter(0 in N : true), map(1 in N : $1))
    Chosen() Constant 1 slots: choose(0 in N : =($0, 1))
    "
    );
}

#[test]
fn a_function_has_a_self_slot_only_if_it_is_recursive() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
f[n \in N] == IF n = 0 THEN 1 ELSE f[n]
g[n \in N, m \in N] == n
h == LET f1[n \in N] == f1[n] IN f1[1, 2]
"#
        ),
        @r"
    N() Constant 0 slots: ?
    f() Constant 2 slots: function this 0(1 in N : if(=($1, 0), 1, at($0, $1)))
    g() Constant 2 slots: function(0 in N, 1 in N : $0)
    h() Constant 3 slots: let 2 = function this 0(1 in N : at($0, $1)) in at(%2, tuple(1, 2))
    "
    );
}

#[test]
fn a_let_is_a_slot_or_captures_mentioned_names() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
VARIABLE x
L(a) == LET u == x
            g(v) == v = u
        IN \E z \in N : LET k(m) == g(m) /\ z = m IN k(a) /\ \A b \in {a} : b = u
"#
        ),
        @r"
    N() Constant 0 slots: ?
    L(a) State 4 slots: let 1 = x in some(2 in N : and(k(^1, ^2, %0), all(3 in set(%0) : =($3, %1))))
    g(u, v) Constant 2 slots: =(%1, %0)
    k(u, z, m) Constant 3 slots: and(g(^0, %2), =(%1, %2))
    "
    );
}

#[test]
fn a_lambda_captures_an_at() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
Op(f(_)) == f(1)
E == [x EXCEPT ![1, 2].f = @, !["s"] = Op(LAMBDA a : @ = a), ![3] = [x EXCEPT ![@] = @]]
"#
        ),
        @r#"
    Op(f/1) Constant 1 slots: %0(1)
    E() State 4 slots: except(x; @0 [tuple(1, 2)].f = $0; @1 ["s"] = Op(LAMBDA<1>); @2 [3] = except(x; @3 [$2] = $3))
    LAMBDA(@, a) Constant 2 slots: =(%0, %1)
    "#
    );
}

#[test]
fn recursion_is_marked() {
    insta::assert_snapshot!(
        check(
            r#"
RECURSIVE Even(_), Odd(_)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n)
Plain(n) == Even(n)
"#
        ),
        @r"
    Even(n) Constant recursive 1 slots: if(=(%0, 0), true, Odd(%0))
    Odd(n) Constant recursive 1 slots: if(=(%0, 0), false, Even(%0))
    Plain(n) Constant 1 slots: Even(%0)
    "
    );
}

#[test]
fn recursion_in_a_let_captures_all_it_could() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
Op(a, b) == LET RECURSIVE S(_)
                one == S(1)
                S(n) == IF n = a THEN one ELSE S(N)
            IN S(b)
"#
        ),
        @r"
    N() Constant 0 slots: ?
    Op(a, b) Constant 2 slots: S(^0, ^1, %1)
    S(a, b, n) Constant recursive 3 slots: if(=(%2, %0), one(^0, ^1), S(^0, ^1, N))
    one(a, b) Constant recursive 2 slots: S(^0, ^1, 1)
    "
    );
}

#[test]
fn levels_follow_arguments() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
VARIABLE x
Primes(a) == a' = 1
Ignores(a) == N
Can == ENABLED Primes(x)
Steps == Primes(x)
Still == Ignores(x)
Constant == N' = N
Spec == x = 1 /\ [][Steps]_x /\ <>Can
"#
        ),
        @r#"
    N() Constant 0 slots: ?
    Primes(a) Action 1 slots: =(prime(%0), 1)
    Ignores(a) Constant 1 slots: N
    Can() State 0 slots: enabled(Primes(x))
    Steps() Action 0 slots: Primes(x)
    Still() Constant 0 slots: Ignores(x)
    Constant() Constant 0 slots: =(prime(N), N)
    Spec() Temporal 0 slots: and(=(x, 1), always(square(Steps, x)), unsupported "<>"(Can))
    "#
    );
}

#[test]
fn an_instance_replaces_what_its_module_declares() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
CONSTANT N
F(a) == a
I(p) == INSTANCE M WITH c <- p, v <- <<x, p>>, Op <- LAMBDA d : d = p
J == INSTANCE M WITH c <- N, v <- x, Op <- F
Next == I(3)!Q(4) /\ J!Q(5)
Handed == LET Call(op(_)) == op(1) IN Call(J!Q) /\ Call(I(2)!Q)
---- MODULE M ----
CONSTANTS c, Op(_)
VARIABLE v
Q(a) == v' = c /\ Op(a)
"#
        ),
        @r"
    N() Constant 0 slots: ?
    F(a) Constant 1 slots: %0
    LAMBDA(p, d) Constant 2 slots: =(%1, %0)
    I!Op(p, _1) Constant 2 slots: LAMBDA(^0, ^1)
    I!v(p) State 1 slots: tuple(x, %0)
    I!Q(p, a) Action 2 slots: and(=(prime(I!v(^0)), %0), I!Op(^0, %1))
    J!Q(a) Action 1 slots: and(=(prime(x), N), F(%0))
    Next() Action 0 slots: and(I!Q(3, 4), J!Q(5))
    Handed() Action 0 slots: and(Call(J!Q<>), Call(LAMBDA<>))
    Call(op/1) Constant 1 slots: %0(1)
    LAMBDA(_1) Action 1 slots: I!Q(2, %0)
    "
    );
}

#[test]
fn an_instance_takes_definitions_of_the_same_name() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
c == {x}
INSTANCE M
Next == Q
---- MODULE M ----
EXTENDS Base
Q == c = v
---- MODULE Base ----
VARIABLES c, x
LOCAL Hidden == c
v == <<Hidden, x'>>
"#
        ),
        @r"
    c() State 0 slots: set(x)
    Hidden() State 0 slots: c
    v() Action 0 slots: tuple(Hidden, prime(x))
    Q() Action 0 slots: =(c, v)
    Next() Action 0 slots: Q
    "
    );
}

#[test]
fn instances_nest() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
O(a) == INSTANCE Outer WITH c <- a
Next == O(1)!I(2)!Op(3)
---- MODULE Outer ----
CONSTANT c
I(b) == INSTANCE Inner WITH d <- <<b, c>>
---- MODULE Inner ----
CONSTANT d
Op(e) == d = e
"#
        ),
        @r"
    O!I!d(a, b) Constant 2 slots: tuple(%1, %0)
    O!I!Op(a, b, e) Constant 3 slots: =(O!I!d(^0, ^1), %2)
    Next() Constant 0 slots: O!I!Op(1, 2, 3)
    "
    );
}

#[test]
fn a_module_inside_sees_what_is_around_it() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
Seen == x
  ---- MODULE Inner ----
CONSTANT c
Op == Seen = c
  ====
I == INSTANCE Inner WITH c <- 1
Op == I!Op
"#
        ),
        @r"
    Seen() State 0 slots: x
    I!c() Constant 0 slots: 1
    I!Op() State 0 slots: =(Seen, I!c)
    Op() State 0 slots: I!Op
    "
    );
}

#[test]
fn an_instance_in_a_let_sees_the_names_around() {
    insta::assert_snapshot!(
        check(
            r#"
Op(a) == \E b \in a : LET I(d) == INSTANCE M WITH c <- b IN I(1)!Get = a
---- MODULE M ----
CONSTANTS c, a
Get == <<c, a>>
"#
        ),
        @r"
    Op(a) Constant 2 slots: some(1 in %0 : =(I!Get(^0, ^1, 1), %0))
    I!Get(a, b, d) Constant 3 slots: tuple(%1, %0)
    "
    );
}

#[test]
fn a_module_that_declares_nothing_is_resolved_once() {
    insta::assert_snapshot!(
        check(
            r#"
EXTENDS Lib
I == INSTANCE Lib
J == INSTANCE Lib
Op == <<I!One, J!One, One>>
---- MODULE Lib ----
One == 1
"#
        ),
        @r"
    One() Constant 0 slots: 1
    Op() Constant 0 slots: tuple(One, One, One)
    "
    );
}

#[test]
fn names_before_a_double_colon_can_be_reached() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
Inv == /\ first :: x = 1
       /\ \A i \in x : second :: i = 2
Use == Inv!first
Cannot == Inv!second
"#
        ),
        @r#"
    Inv() State 1 slots: and(Inv!first, all(0 in x : =($0, 2)))
    Inv!first() State 0 slots: =(x, 1)
    Use() State 0 slots: Inv!first
    Cannot() Constant 0 slots: unsupported "a reference into a definition"()
    "#
    );
}

#[test]
fn theorems_and_assumptions_have_names() {
    insta::assert_snapshot!(
        check(
            r#"
CONSTANT N
ASSUME Named == N = 1
ASSUME N = 2
THEOREM Claim == N = 3
THEOREM Broken == Nonsense
Both == Named /\ Claim
"#
        ),
        @r#"
    N() Constant 0 slots: ?
    Named() Constant 0 slots: =(N, 1)
    ASSUME() Constant 0 slots: =(N, 2)
    Claim() Constant 0 slots: =(N, 3)
    Broken() Constant 0 slots: unsupported "an error"()
    Both() Constant 0 slots: and(Named, Claim)
    ASSUME Some("Named") Named
    ASSUME None ASSUME
    "#
    );
}

#[test]
fn unsupported_expressions_are_kept_with_their_parts() {
    insta::assert_snapshot!(
        check(
            r#"
VARIABLE x
Unbounded == \E a : a = x
Live == WF_x(x' = 1) /\ x = 1 ~> x = 2
Any == CHOOSE a : a \notin x
"#
        ),
        @r#"
    Unbounded() State 1 slots: unsupported "an unbounded \\E"(=($0, x))
    Live() Temporal 0 slots: unsupported "~>"(and(unsupported "WF_v(A)"(x, =(prime(x), 1)), =(x, 1)), =(x, 2))
    Any() State 1 slots: unsupported "an unbounded CHOOSE"(notin($0, x))
    "#
    );
}

#[test]
fn an_operator_of_ours_may_look_at_the_state_and_be_assumed() {
    insta::assert_snapshot!(
        check(
            r#"
EXTENDS TLC
ASSUME TLCGet(1) = 2
Op == TLCGet(1) = 2
"#
        ),
        @r"
    ASSUME() State 0 slots: =(TLCGet(1), 2)
    Op() State 0 slots: =(TLCGet(1), 2)
    ASSUME None ASSUME
    "
    );
}

#[test]
fn natives_are_visible_where_they_are_extended() {
    insta::assert_snapshot!(
        check(
            r#"
EXTENDS Integers, Sequences
LOCAL INSTANCE FiniteSets
F == INSTANCE FiniteSets
Op(s, f(_, _)) == Len(s) + 1 - Cardinality({-1}) * F!Cardinality(s)
Sum == Op(<<1>>, +) = Op(<<>>, -)
"#
        ),
        @r"
    Op(s, f/2) Constant 2 slots: +(Len(%0), -(1, *(Cardinality(set(-.(1))), Cardinality(%0))))
    Sum() Constant 0 slots: =(Op(tuple(1), +<>), Op(tuple(), -<>))
    "
    );
}

/// Resolves an expression in the context of a module, and shows the added definitions.
fn check_expression(text: &str, expression: &str) -> String {
    let mut module = resolve_texts(text).unwrap();
    let known = module.definitions.len();
    match resolve_expression(&mut module, expression) {
        Ok(def) => {
            let definition = &module.definitions[def.0 as usize];
            let words = module.sources.words(definition.site).to_owned();
            module.definitions.drain(..known).for_each(drop);
            module.assumptions.clear();
            let first = u32::try_from(known).unwrap();
            let names: Vec<String> = module.definitions.iter().map(|definition| definition.name.clone()).collect();
            format!("{words}: {} added, the expression is {}", names.join(", "), def.0 - first)
        }
        Err(errors) => {
            assert_eq!(module.definitions.len(), known, "nothing is left behind");
            show(&errors)
        }
    }
}

#[test]
fn expressions_are_resolved_in_the_context_of_a_module() {
    let text =
        "VARIABLE x\nLOCAL Get(a) == a = x\nI == INSTANCE M WITH c <- 1\n---- MODULE M ----\nCONSTANT c\nOp == c";
    let check = |expression| check_expression(text, expression);
    insta::assert_snapshot!(check("Get(I!Op)"), @"Get(I!Op): expression added, the expression is 0");
    insta::assert_snapshot!(check("/\\ Get(1)\n/\\ LET f(a) == Get(a) IN f(2)"), @r"
    /\ Get(1)
    /\ LET f(a) == Get(a) IN f(2): expression, f added, the expression is 0
    ");
    insta::assert_snapshot!(check("Get(1,\n  y)"), @r"
    expression `Get(1,
      y)`: `Get` takes 1 argument, but has 2
      Root:3 `Get`: defined here
    expression `y`: `y` is not defined
    ");
    insta::assert_snapshot!(check("<<x, (x')'>>"), @"expression `(x')'`: this primes what depends on two states already");
    insta::assert_snapshot!(check("1\nOther == 2"), @r"
    expression `1
    Other == 2`: this is not a single expression
    ");
    for broken in ["", "1 2", "(", ")", "===="] {
        assert!(resolve_expression(&mut resolve_texts(text).unwrap(), broken).is_err(), "{broken}");
    }
}

#[test]
fn an_expression_can_be_asked_for_again_after_an_error() {
    let mut module = resolve_texts("VARIABLE x\nGet(a) == a = x").unwrap();
    assert!(resolve_expression(&mut module, "Get(y)").is_err());
    let first = resolve_expression(&mut module, "Get(1)").unwrap();
    let second = resolve_expression(&mut module, "Get(2)").unwrap();
    assert_eq!(module.definitions.len(), 3);
    let dump = Dump(&module);
    let body = |def: DefId| match module.definitions[def.0 as usize].body {
        Body::Expr(body) => dump.expr(body),
        _ => unreachable!(),
    };
    insta::assert_snapshot!(format!("{} {}", body(first), body(second)), @"Get(1) Get(2)");
}

#[test]
fn strings_are_ordered_by_configuration_then_names_then_literals() {
    let mut texts = Texts::new("EXTENDS M\nA == <<\"literal\", [field |-> 1]>>\n---- MODULE M ----\nB == \"other\"");
    let (name, root) = texts.0.remove(0);
    let mut strings = Strings::default();
    strings.intern("configured");
    let module = resolve(&name, &root, &mut texts, strings).unwrap();
    let mut ranked: Vec<_> =
        ["other", "literal", "B", "field", "configured"].map(|text| (module.strings.str(text), text)).into();
    ranked.sort();
    let words: Vec<&str> = ranked.into_iter().map(|(_, text)| text).collect();
    insta::assert_snapshot!(words.join(" "), @"configured field B literal other");
}

#[test]
fn names_reach_into_instances_without_parameters() {
    let text = "CONSTANT N\nI == INSTANCE M\nJ(c) == INSTANCE O\n---- MODULE M ----\nA == 1\nO == INSTANCE O WITH c <- 1\n---- MODULE O ----\nCONSTANT c\nB(a) == c";
    let module = resolve_texts(text).unwrap();
    let names: Vec<&str> = module.names.keys().map(String::as_str).collect();
    insta::assert_snapshot!(names.join(" "), @"I!A I!O!B N");
}

#[test]
fn instances_that_multiply_are_stopped() {
    let mut text = "A == INSTANCE M0 WITH c <- 1\n".to_owned();
    for level in 0..20 {
        text += &format!("---- MODULE M{level} ----\nCONSTANT c\nOp == c\n");
        text += &format!("A == INSTANCE M{0} WITH c <- <<c>>\nB == INSTANCE M{0} WITH c <- {{c}}\n", level + 1);
    }
    text += "---- MODULE M20 ----\nCONSTANT c\nOp == c\n";
    let errors = resolve_texts(&text).unwrap_err();
    insta::assert_snapshot!(errors.errors[0].diagnostic.message, @"the instances have more than 200000 definitions");
}

#[test]
fn deep_expressions_fit_on_the_stack() {
    let nested = format!("{}1{}", "{".repeat(900), "}".repeat(900));
    resolve_texts(&format!("A == {nested}\nB == LET f(a) == {nested} IN f(1)")).unwrap();
}
