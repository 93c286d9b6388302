---- MODULE InvariantNotBoolean ----
\* The invariant is a number.
VARIABLE x
Init == x = 0
Next == x' = x
Inv == x
====
