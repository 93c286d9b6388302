---- MODULE Counter ----
\* One integer that goes round.
EXTENDS Naturals
CONSTANT Top
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % Top
InRange == x < Top
====
