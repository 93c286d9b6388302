---- MODULE InitReadsBeforeAssigned ----
EXTENDS Naturals
VARIABLES x, y
Init == y = x + 1 /\ x = 0
Next == UNCHANGED <<x, y>>
====
