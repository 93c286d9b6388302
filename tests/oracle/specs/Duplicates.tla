---- MODULE Duplicates ----
\* The same successor is generated as often as there are ways to it.
EXTENDS Naturals
VARIABLES x, y
Init == (x = 0 \/ x = 0 \/ x = 1) /\ y = 0
A == (TRUE \/ TRUE) /\ x' = (x + 1) % 4 /\ y' = y
B == x' = (x + 1) % 4 /\ y' = y /\ (TRUE \/ TRUE)
C == (\E i \in {1, 2, 3} : TRUE) /\ x' = x /\ y' = (y + 1) % 3
D == x' \in {x, x} /\ (y' = y \/ y' = y)
Next == A \/ B \/ C \/ D \/ A
====
