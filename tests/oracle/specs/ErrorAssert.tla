---- MODULE ErrorAssert ----
\* Assert fails on the third step.
EXTENDS Naturals, TLC
VARIABLE x
Init == x = 0
Next == Assert(x < 2, "too large") /\ x' = x + 1
====
