---- MODULE ErrorEnumerate ----
\* An infinite set cannot be gone through.
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' \in Nat
====
