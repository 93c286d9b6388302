---- MODULE ActionConstrained ----
\* An action constraint forbids steps.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' \in 0..4 /\ y' \in 0..4
Near == x' + y' <= x + y + 1
Far == x + y < 7
====
