---- MODULE Viewed ----
\* A view hides the number of steps.
EXTENDS Naturals
VARIABLES x, steps
Hide == x
Init == x = 0 /\ steps = 0
Next == x' = (x + 3) % 11 /\ steps' = steps + 1
====
