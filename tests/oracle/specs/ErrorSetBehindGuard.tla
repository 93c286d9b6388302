---- MODULE ErrorSetBehindGuard ----
EXTENDS Integers, Sequences
VARIABLES x, q
Init == x = 0 /\ q = <<>>
Inc == x < 2 /\ x' = x + 1 /\ UNCHANGED q
Bad == \E v \in Head(q) : x > 5 /\ x' = v /\ UNCHANGED q
Next == Inc \/ Bad
====
