---- MODULE GuardBeforeSets ----
EXTENDS Integers, Sequences
VARIABLES x, q
Init == x = 0 /\ q = <<1, 2>>
Inc == x < 4 /\ x' = x + 1 /\ UNCHANGED q
\* The inner set has no value, and is not reached: the outer one is empty.
Empty == \E u \in 1..0 : \E v \in q[7] : x > 5 /\ x' = v /\ UNCHANGED q
\* The conjunct that excludes the step comes first, and has no bound name.
Put == \E v \in DOMAIN q, w \in SUBSET {1, 2} : x = 3 /\ x' = v /\ UNCHANGED q
Next == Inc \/ Empty \/ Put
====
