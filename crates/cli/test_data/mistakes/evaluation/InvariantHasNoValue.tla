---- MODULE InvariantHasNoValue ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = x + 1 /\ y' = y
Inv == <<10, 20, 30>>[x + 1] > 0
====
