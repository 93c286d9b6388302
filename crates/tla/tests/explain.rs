//! Explanations of actions, as shown to users.

mod common;

use common::{machine, program};

/// Explains `Next` in the first initial state of a module with these definitions.
fn check(definitions: &str) -> String {
    let text = format!("---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets\n{definitions}\n====\n");
    let program = program(&text, "INIT Init\nNEXT Next").expect("the module can be linked");
    let mut machine = machine(&program);
    let mut states = Vec::new();
    machine.initial_states(&mut states).expect("Init can be evaluated");
    let next = program.next.expect("the module has a next-state relation");
    machine.explain(next, &states[0]).text(&program.module)
}

#[test]
fn the_first_false_conjunct_and_its_values() {
    insta::assert_snapshot!(check(r"
VARIABLES q, n
Init == q = <<1, 2>> /\ n = 0
Next == /\ q # <<>>
        /\ n + 1 > Len(q)
        /\ n' = n + 1
        /\ q' = Tail(q)"), @"
    the only way: leads nowhere
      true   q # <<>>  at M.tla:6:12
               q = <<1, 2>>
      false  n + 1 > Len(q)  at M.tla:7:12
               n + 1 = 1
                 n = 0
               Len(q) = 2
                 q = <<1, 2>>
      -      n' = n + 1  not reached
      -      q' = Tail(q)  not reached
    ");
}

#[test]
fn every_disjunct_has_its_own_reason() {
    insta::assert_snapshot!(check(r"
VARIABLE x
Init == x = 3
Up == x < 3 /\ x' = x + 1
Down == x > 3 /\ x' = x - 1
Next == Up \/ Down \/ (x = 3 /\ x' = 0)"), @r"
    (x = 3 /\ x' = 0): leads to a state
      true   x = 3  at M.tla:8:24
               x = 3
      true   x' = 0  makes x' = 0
    Up: leads nowhere
      false  x < 3  at M.tla:6:7
               x = 3
      -      x' = x + 1  not reached
    Down: leads nowhere
      false  x > 3  at M.tla:7:9
               x = 3
      -      x' = x - 1  not reached
    ");
}

#[test]
fn quantifiers_show_what_they_bound() {
    insta::assert_snapshot!(check(r#"
VARIABLES owner, waiting
Init == owner = "b" /\ waiting = {"a", "b"}
Next == \E p \in {"a", "b"} :
  /\ p \in waiting
  /\ \A q \in waiting : q = p \/ owner = q
  /\ owner' = p
  /\ waiting' = waiting \ {p}"#), @r#"
    p = "a": leads to a state
      true   p \in waiting  at M.tla:7:6
               p = "a"
               waiting = {"b", "a"}
      true   \A q \in waiting : q = p \/ owner = q  at M.tla:8:6
               waiting = {"b", "a"}
        true   q = p \/ owner = q  with q = "b"  at M.tla:8:25
          false  q = p  at M.tla:8:25
                   q = "b"
                   p = "a"
          true   owner = q  at M.tla:8:34
                   owner = "b"
                   q = "b"
        true   q = p \/ owner = q  with q = "a"  at M.tla:8:25
          true   q = p  at M.tla:8:25
                   q = "a"
                   p = "a"
          -      owner = q  not reached
      true   owner' = p  makes owner' = "a"
      true   waiting' = waiting \ {p}  makes waiting' = {"b"}
    p = "b": leads nowhere
      true   p \in waiting  at M.tla:7:6
               p = "b"
               waiting = {"b", "a"}
      false  \A q \in waiting : q = p \/ owner = q  at M.tla:8:6
               waiting = {"b", "a"}
        false  q = p \/ owner = q  with q = "a"  at M.tla:8:25
          false  q = p  at M.tla:8:25
                   q = "a"
                   p = "b"
          false  owner = q  at M.tla:8:34
                   owner = "b"
                   q = "a"
      -      owner' = p  not reached
      -      waiting' = waiting \ {p}  not reached
    "#);
}

#[test]
fn if_and_case_show_the_branch_taken() {
    insta::assert_snapshot!(check(r"
VARIABLE x
Init == x = 3
Next == /\ IF x > 5 THEN x < 9 ELSE x < 2
        /\ x' = CASE x = 0 -> 1 [] OTHER -> 2
"), @"
    the only way: leads nowhere
      false  IF x > 5 THEN x < 9 ELSE x < 2  at M.tla:6:12
        false  x > 5  at M.tla:6:15
                 x = 3
        false  x < 2  at M.tla:6:37
                 x = 3
      -      x' = CASE x = 0 -> 1 [] OTHER -> 2  not reached
    ");
    insta::assert_snapshot!(check(r"
VARIABLE x
Init == x = 3
Next == CASE x = 0 -> x' = 1
          [] x = 3 -> x = 4 /\ x' = 2
"), @"
    the only way: leads nowhere
      true   x = 3  at M.tla:7:14, so
               x = 3
      false  x = 4  at M.tla:7:23
               x = 3
      -      x' = 2  not reached
    ");
}

#[test]
fn definitions_and_let_are_looked_into() {
    insta::assert_snapshot!(check(r"
VARIABLES set, limit
Full(s, most) == Cardinality(s) >= most
Init == set = {1, 2} /\ limit = 2
Next == LET fresh == CHOOSE i \in 1..9 : i \notin set IN
        /\ ~Full(set, limit)
        /\ set' = set \cup {fresh}
        /\ UNCHANGED limit"), @r"
    the only way: leads nowhere
      false  ~Full(set, limit)  at M.tla:8:12
        true   Full(set, limit)  with s = {1, 2}, most = 2  at M.tla:8:13
          true   Cardinality(s) >= most  at M.tla:5:18
                   Cardinality(s) = 2
                     s = {1, 2}
                   most = 2
      -      set' = set \cup {fresh}  not reached
      -      UNCHANGED limit  not reached
    ");
}

#[test]
fn an_error_is_neither_true_nor_false() {
    insta::assert_snapshot!(check(r"
VARIABLES f, k
Init == f = <<10, 20>> /\ k = 3
Next == \/ /\ k > 2
           /\ f[k] = 10
           /\ UNCHANGED <<f, k>>
        \/ k' = f[k] + 1 /\ f' = f
        \/ k' = 1 /\ f' = f"), @r"
    k' = 1 /\ f' = f: leads to a state
      true   k' = 1  makes k' = 1
      true   f' = f  makes f' = <<10, 20>>
    /\ k > 2 /\ f[k] = 10 /\ UNCHANGED <<f, k>>: leads nowhere
      true   k > 2  at M.tla:6:15
               k = 3
      error  f[k] = 10  at M.tla:7:15: the index 3 is outside the domain of <<10, 20>>
        error  f[k]  at M.tla:7:15: the index 3 is outside the domain of <<10, 20>>
                 f = <<10, 20>>
                 k = 3
      -      UNCHANGED <<f, k>>  not reached
    k' = f[k] + 1 /\ f' = f: leads nowhere
      error  k' = f[k] + 1  at M.tla:9:12: the index 3 is outside the domain of <<10, 20>>
      -      f' = f  not reached
    ");
}

#[test]
fn a_variable_assigned_twice_must_agree() {
    insta::assert_snapshot!(check(r"
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == /\ x' = 1
        /\ y' \in {1, 2}
        /\ x' = y' + 1
        /\ UNCHANGED x"), @r"
    the only way: leads nowhere
      true   x' = 1  makes x' = 1
      true   y' \in {1, 2}  makes y' = 1
      false  x' = y' + 1  at M.tla:8:12
               x' = 1
               y' + 1 = 2
                 y' = 1
      -      UNCHANGED x  not reached
    the only way: leads nowhere
      true   x' = 1  makes x' = 1
      true   y' \in {1, 2}  makes y' = 2
      false  x' = y' + 1  at M.tla:8:12
               x' = 1
               y' + 1 = 3
                 y' = 2
      -      UNCHANGED x  not reached
    ");
}

#[test]
fn operators_of_other_modules_are_shown_with_their_location() {
    insta::assert_snapshot!(check(r"
VARIABLE x
---- MODULE Limits ----
EXTENDS Naturals
CONSTANT Most
Below(n) == n < Most
====
L == INSTANCE Limits WITH Most <- 3
Init == x = 5
Next == L!Below(x) /\ x' = x + 1"), @"
    the only way: leads nowhere
      false  L!Below(x)  with n = 5  at M.tla:12:9
        false  n < Most  at M.tla:8:13
                 n = 5
                 Most = 3
      -      x' = x + 1  not reached
    ");
}

#[test]
fn an_empty_set_of_next_values_shows_what_it_was_made_from() {
    insta::assert_snapshot!(check(r"
VARIABLES lane, n
Left(l, k) == {i \in l : i > k}
Init == lane = {1, 2} /\ n = 5
Next == lane' \in {i \in lane : i > n} /\ n' = n"), @r"
    the only way: leads nowhere
      false  lane' \in {i \in lane : i > n}  at M.tla:7:9
               {i \in lane : i > n} = {}
      -      n' = n  not reached
    ");
}
