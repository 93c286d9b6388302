---- MODULE AssignmentOfPlusCal ----
EXTENDS Naturals
VARIABLE x
Step == x' := x + 1
====
