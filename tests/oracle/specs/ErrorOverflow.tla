---- MODULE ErrorOverflow ----
\* Doubling leaves the range of integers.
EXTENDS Naturals
VARIABLE x
Init == x = 1
Next == x' = x * 2
====
