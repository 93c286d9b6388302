---- MODULE Registers ----
\* TLCSet and TLCGet with one worker: a register that only counts, and the level.
EXTENDS Naturals, TLC
VARIABLE x
Init == x = 0 /\ TLCSet(1, 0)
Next == x < 6 /\ x' = x + 1 /\ TLCSet(1, x)
Ok == TLCGet(1) <= 6
====
