---- MODULE ErrorCase ----
\* No arm of CASE holds.
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == CASE x = 0 -> x' = 1 [] x = 1 -> x' = 2
====
