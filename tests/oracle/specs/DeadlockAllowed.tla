---- MODULE DeadlockAllowed ----
\* The same, and stopping is allowed.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 5
Next == x < y /\ ((x' = x + 1 /\ y' = y) \/ (y' = y - 1 /\ x' = x))
====
