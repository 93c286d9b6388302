---- MODULE Counter ----
EXTENDS Naturals
VARIABLE count

Init == count = 0
Add(before) == before = count /\ count' = count + 1
Get(now) == now = count /\ UNCHANGED count
Next == \E n \in Nat : Add(n) \/ Get(n)
====
