---- MODULE ViewInitial ----
EXTENDS Integers
VARIABLES x, y
Init == x \in 0..1 /\ y = 0
Next == y < 3 /\ y' = y + 1 /\ x' = x
View == y
PInit == x = 0
====
