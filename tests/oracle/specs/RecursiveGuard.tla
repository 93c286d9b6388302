---- MODULE RecursiveGuard ----
\* The body of a recursive function that guards an action is part of the action: each way to make it true is a step.
EXTENDS Integers
VARIABLE x
Init == x = 0
Sum(n) == LET Can[k \in 0..n] == k = 0 \/ \E c \in 1..2 : c <= k /\ Can[k - c] IN Can[n]
Next == \E n \in 0..3 : Sum(n) /\ x' = n
====
