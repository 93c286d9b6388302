---- MODULE ErrorSetNested ----
EXTENDS Integers, Sequences
VARIABLES x, q
Init == x = 0 /\ q = <<>>
Inc == x < 2 /\ x' = x + 1 /\ UNCHANGED q
Bad == \E u \in 1..2 : \E v \in {w \in 1..2 : q[w] > 0} : x > 5 /\ x' = v /\ UNCHANGED q
Next == Inc \/ Bad
====
