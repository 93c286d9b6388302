---- MODULE ReadBeforeAssigned ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == y' = x' + 1 /\ x' = 1 - x
====
