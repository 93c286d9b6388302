---- MODULE ErrorFalseAction ----
\* The next-state relation is a number in one disjunct.
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == (x < 2 /\ x' = x + 1) \/ (x = 2 /\ 3)
====
