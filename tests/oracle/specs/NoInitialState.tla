---- MODULE NoInitialState ----
\* No state satisfies the initial predicate.
EXTENDS Naturals
VARIABLE x
Init == x \in 1..5 /\ x > 7
Next == x' = x
====
