---- MODULE InvariantNotBoolean ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = x + 1 /\ y' = y
Inv == IF x < 2 THEN TRUE ELSE x
====
