---- MODULE AssignedInOneBranch ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == /\ x' = (x + 1) % 3
        /\ IF x = 1 THEN y' = x ELSE y > 0 \/ TRUE
====
