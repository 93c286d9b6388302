---- MODULE PrimedUnassigned ----
\* Reading a next value that is not there yet.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = y' + 1 /\ y' = 0
====
