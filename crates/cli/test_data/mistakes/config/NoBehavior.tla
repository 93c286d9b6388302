---- MODULE NoBehavior ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = (x + 1) % 3 /\ y' = x
Small == x < 3
====
