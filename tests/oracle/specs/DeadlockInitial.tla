---- MODULE DeadlockInitial ----
\* Nothing can happen at all.
VARIABLE x
Init == x = 0
Next == x = 1 /\ x' = 0
====
