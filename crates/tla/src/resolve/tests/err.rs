//! Specifications that do not resolve, and their errors.

use super::*;

#[test]
fn unknown_names_are_reported_with_suggestions() {
    insta::assert_snapshot!(
        check_errors(
            r#"
VARIABLE counter
A == conter = 1
B == a + Later
C == A!x /\ counter!y
Later == {1, 2, missing, A(3)}
"#
        ),
        @r"
    Root `conter`: `conter` is not defined
      help: did you mean `counter`?
    Root `a`: `a` is not defined
    Root `+`: `+` is not defined
      help: it comes with module `Naturals`: add it after `EXTENDS`
    Root `Later`: `Later` is not defined
      Root:6 `Later`: defined only here
      help: define it before it is used, or declare it with `RECURSIVE Later`
    Root `counter`: `counter` is not an instance
    Root `missing`: `missing` is not defined
    Root `A(3)`: `A` takes no arguments, but has 1
      Root:3 `A`: defined here
    "
    );
}

#[test]
fn names_are_defined_once() {
    insta::assert_snapshot!(
        check_errors(
            r#"
CONSTANT N, N
VARIABLE x
N == 1
A(x) == x
B(a, a) == a
C == \A i \in x : \E i \in x : i = i
D == LET A == 1 IN A
A == 2
"#
        ),
        @r"
    Root `N`: `N` is already defined
      Root:2 `N`: first here
    Root `N`: `N` is already defined
      Root:2 `N`: first here
    Root `x`: `x` is already defined
      Root:3 `x`: first here
    Root `a`: `a` is already defined
      Root:6 `a`: first here
    Root `i`: `i` is already defined
      Root:7 `i`: first here
    Root `A`: `A` is already defined
      Root:5 `A`: first here
    Root `A`: `A` is already defined
      Root:5 `A`: first here
    "
    );
}

#[test]
fn arguments_are_counted() {
    insta::assert_snapshot!(
        check_errors(
            r#"
CONSTANT F(_)
A(a, f(_)) == f(a)
B == A(1)
C == A(1, 2)
D == A(1, LAMBDA p, q : p)
E == A(F, F)
G == A(1, A)
H == SUBSET 1 \cup F
"#
        ),
        @r"
    Root `A(1)`: `A` takes 2 arguments, but has 1
      Root:3 `A`: defined here
    Root `2`: `A` expects an operator with 1 argument here, not a value
      help: name an operator, or write `LAMBDA x : ...`
    Root `LAMBDA p, q : p`: this `LAMBDA` takes 2 arguments, but `A` expects an operator with 1 argument here
    Root `F`: `F` takes 1 argument, but has none
      Root:2 `F`: defined here
    Root `A`: `A` takes 2 arguments, but `A` expects an operator with 1 argument here
    Root `F`: `F` takes 1 argument, but has none
      Root:2 `F`: defined here
    "
    );
}

#[test]
fn recursion_must_be_declared_and_kept() {
    insta::assert_snapshot!(
        check_errors(
            r#"
A(n) == A(n)
RECURSIVE B(_), C(_)
B(n, m) == n
D == LET RECURSIVE E(_) IN 1
"#
        ),
        @r"
    Root `A`: `A` is not defined
      Root:2 `A`: defined only here
      help: define it before it is used, or declare it with `RECURSIVE A(_)`
    Root `C`: `C` is declared `RECURSIVE` but never defined
    Root `B`: `B` has different parameters than its `RECURSIVE` declaration
      Root:3 `B`: declared here
    Root `E`: `E` is declared `RECURSIVE` but never defined
    "
    );
}

#[test]
fn substitutions_must_fit() {
    insta::assert_snapshot!(
        check_errors(
            r#"
VARIABLE x
I == INSTANCE M WITH cc <- 1, v <- x
J == INSTANCE M WITH c <- x, v <- x', v <- x
K == I(1)!Op /\ J!Opp
---- MODULE M ----
CONSTANT c
VARIABLE v
Op == v = c
"#
        ),
        @r"
    Root `M`: nothing replaces constant `c` of module `M`
      M:2 `c`: declared here
      help: define `c` before, or write `WITH c <- ...`
    Root `cc`: module `M` declares no `cc`
    Root `x`: `c` of module `M` cannot depend on a state
    Root `x'`: `v` of module `M` cannot depend on two states
    Root `v`: `v` is replaced twice
    Root `I`: `I` takes no arguments, but has 1
    Root `Opp`: the instance has no `Opp`
      help: did you mean `Op`?
    "
    );
}

#[test]
fn modules_must_exist_and_not_need_themselves() {
    insta::assert_snapshot!(
        check_errors(
            r#"
EXTENDS M, Natural
I == INSTANCE Nowhere
A == Unknown
---- MODULE M ----
INSTANCE N
---- MODULE N ----
EXTENDS M
"#
        ),
        @r"
    Root `Natural`: there is no module `Natural`
      help: did you mean `Naturals`?
    Root `Nowhere`: there is no module `Nowhere`
    N `M`: module `M` depends on itself
    "
    );
}

#[test]
fn levels_are_limited() {
    insta::assert_snapshot!(
        check_errors(
            r#"
CONSTANT N
VARIABLE x
Primes(a) == a' = 1
A == x''
B == Primes(x')
C == {[]x}
D == [](x' = 1)
E == x' = 1 /\ []x
F == UNCHANGED (x')
ASSUME x = N
Good == Primes(x) /\ N'
"#
        ),
        @r"
    Root `x''`: this primes what depends on two states already
    Root `x'`: `Primes` primes this argument, which depends on two states already
    Root `[]x`: a temporal formula has no value here
    Root `[](x' = 1)`: `[]` of an action must have the form `[][A]_v`
    Root `x' = 1`: an action cannot be combined with a temporal formula, unless within `[A]_v`
    Root `UNCHANGED (x')`: `UNCHANGED` of what depends on two states already
    Root `x = N`: an assumption cannot depend on a state
    "
    );
}

#[test]
fn fields_are_distinct_and_ats_are_inside_except() {
    insta::assert_snapshot!(
        check_errors(
            r#"
A == [a |-> 1, b |-> 2, a |-> 3]
B == [a : {1}, a : {2}]
C == @
"#
        ),
        @r"
    Root `a`: duplicate field `a`
      Root:2 `a`: first here
    Root `a`: duplicate field `a`
      Root:3 `a`: first here
    Root `@`: `@` is only allowed inside an `EXCEPT`
      help: it means the old value, after the `=` of an update
    "
    );
}

#[test]
fn a_definition_and_a_declaration_clash() {
    insta::assert_snapshot!(
        check_errors(
            r#"
EXTENDS M, N
---- MODULE M ----
A == 1
B == 1
---- MODULE N ----
A == 2
CONSTANT B
"#
        ),
        @r"
    Root `N`: this brings in another `B`, which is already defined
      M:3 `B`: first here
    "
    );
}

#[test]
fn a_broken_definition_may_have_parameters() {
    insta::assert_snapshot!(
        check_errors(
            r#"
VARIABLE x
Add(n) == x' = (n
F[n \in {1}] == (n
Next == Add(1) /\ F[1] = 1
"#
        ),
        @"
    Root `(`: `(` is never closed
      help: close it with `)`
    Root `(`: `(` is never closed
      help: close it with `)`
    "
    );
}
