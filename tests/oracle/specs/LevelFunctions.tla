---- MODULE LevelFunctions ----
\* Definitions of functions over state, parameters that hide, and functions of two arguments.
EXTENDS Naturals
VARIABLES m, k
Dist[a, b \in 0..2] == IF a > b THEN a - b ELSE b - a
Scaled[a \in 0..2] == a * k
Init == m = [a, b \in 0..2 |-> 0] /\ k = 1
Next == \/ \E a, b \in 0..1 : m' = [m EXCEPT ![a, b] = Dist[a, b] * k] /\ UNCHANGED k
        \/ k' = 3 - k /\ UNCHANGED m
        \/ m[1, 0] = Scaled[1] /\ m' = [m EXCEPT ![<<1, 0>>] = 0] /\ UNCHANGED k
Ok == \A a \in 0..2, b \in 0..2 : m[a, b] <= Scaled[2] + 2
====
