---- MODULE ForAllEmpty ----
\* An assignment under \A happens for every element, so not at all if there is none.
EXTENDS Naturals
VARIABLES x, y
Init == x = 2 /\ y = 0
Next == x' = x - 1 /\ \A i \in 1..x : y' = x
====
