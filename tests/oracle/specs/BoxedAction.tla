---- MODULE BoxedAction ----
\* [A]_v and <<A>>_v as the next-state relation.
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
A == x' = (x + 1) % 3 /\ y' = y
B == x' \in {0, x} /\ y' = 1 - y
Stay == UNCHANGED vars
Init == x = 0 /\ y = 0
Next == [A]_vars \/ <<B \/ Stay>>_y
====
