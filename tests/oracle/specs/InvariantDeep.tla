---- MODULE InvariantDeep ----
\* Wrong after eleven steps; two invariants, the second is broken first.
EXTENDS Naturals
VARIABLES a, b
Init == a = 0 /\ b = 0
Next == (a' = a + 1 /\ b' = (b + a) % 10) \/ (a > 3 /\ a' = a - 1 /\ b' = b)
First == a < 20
Second == a + b < 19
====
