---- MODULE NumberAgainstString ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == IF x = "a" THEN x' = 1 /\ y' = 1 ELSE UNCHANGED <<x, y>>
====
