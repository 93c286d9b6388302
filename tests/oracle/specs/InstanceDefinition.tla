---- MODULE InstanceDefinition ----
\* The variable of the instance is a definition of this module.
EXTENDS Naturals
VARIABLES hi, lo
cell == hi * 3 + lo
Step(n) == n + 1
Bound == 8
S == INSTANCE Store
Init == hi = 0 /\ lo = 0
Next == \/ lo < 2 /\ lo' = lo + 1 /\ UNCHANGED hi
        \/ lo = 2 /\ hi < 2 /\ lo' = 0 /\ hi' = hi + 1
        \/ hi = 2 /\ lo = 2 /\ hi' = 0 /\ lo' = 0
Refines == S!Ok
Steps == [][S!Next]_cell
====
