---- MODULE PrimedArguments ----
\* Operators that are handed primed variables, directly, through LET and through other operators.
EXTENDS Naturals
VARIABLES x, y
Becomes(v, e) == v = e
OneOf(v, S) == v \in S
Twice(v, e) == Becomes(v, e) /\ Becomes(v, e)
Init == Becomes(x, 0) /\ OneOf(y, {0, 1})
A == Becomes(x', (x + 1) % 3) /\ Becomes(y', x')
B == LET next == x' IN next = 2 - x /\ OneOf(y', {next, y})
C == Twice(x', 0) /\ Twice(y', y)
Next == A \/ (x <= 2 /\ B) \/ C
Sum == x + y
Bounded == Sum < 5
Grow == Sum' >= Sum
====
