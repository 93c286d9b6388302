---- MODULE ReversedAssignment ----
\* Only the left side of an equation is assigned.
VARIABLE x
Init == x = 0
Next == 1 = x'
====
