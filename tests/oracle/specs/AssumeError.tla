---- MODULE AssumeError ----
\* An assumption has no value.
EXTENDS Naturals
VARIABLE x
ASSUME 1 = "a"
Init == x = 0
Next == x' = x
====
