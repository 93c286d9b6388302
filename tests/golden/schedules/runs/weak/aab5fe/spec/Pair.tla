---- MODULE Pair ----
EXTENDS Naturals
VARIABLE value

Init == value = 0
Write(v) == v \in Nat /\ value' = v
Read(a, b) == a = value /\ b = value /\ UNCHANGED value
Next == \E v, w \in Nat : Write(v) \/ Read(v, w)
====
