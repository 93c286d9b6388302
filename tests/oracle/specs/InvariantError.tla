---- MODULE InvariantError ----
\* The invariant has no value in a later state.
EXTENDS Naturals
VARIABLE x
Init == x = 3
Next == x > 0 /\ x' = x - 1
Inv == 6 \div x > 0
====
