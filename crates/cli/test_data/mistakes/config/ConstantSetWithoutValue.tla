---- MODULE ConstantSetWithoutValue ----
EXTENDS Naturals
CONSTANTS Keys, Limit
VARIABLE m
Init == m = [k \in Keys |-> 0]
Next == \E k \in Keys : m[k] < Limit /\ m' = [m EXCEPT ![k] = @ + 1]
====
