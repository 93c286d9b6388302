---- MODULE ErrorCompare ----
\* A number is compared with a string.
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x # "end" /\ x' = x + 1
====
