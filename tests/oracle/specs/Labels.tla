---- MODULE Labels ----
\* Labels, theorems and subexpressions have no effect on what is checked.
EXTENDS Naturals
VARIABLE x
Init == first :: x = 0
Next == step :: x' = (x + 2) % 6
Inv == /\ low :: x >= 0
       /\ x % 2 = 0
THEOREM Init => Inv
LEMMA Two == 1 + 1 = 2
====
