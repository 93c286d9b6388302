---- MODULE UnchangedOfOperator ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Both == <<x, y>>
Next == UNCHANGED x
====
