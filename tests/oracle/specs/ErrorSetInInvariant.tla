---- MODULE ErrorSetInInvariant ----
EXTENDS Integers, Sequences
VARIABLES x, q
Init == x = 0 /\ q = <<>>
Next == x < 2 /\ x' = x + 1 /\ UNCHANGED q
Inv == ~(\E v \in Head(q) : x > 5)
====
