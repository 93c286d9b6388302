---- MODULE ErrorDomain ----
\* A function is applied outside its domain after some steps.
EXTENDS Naturals
VARIABLES i, sum
f == [n \in 0..4 |-> n * n]
Init == i = 0 /\ sum = 0
Next == sum' = sum + f[i] /\ i' = i + 1
====
