---- MODULE AssignmentInRecord ----
EXTENDS Naturals
r == [a = 1, b |-> 2]
s == [a : 1, b |-> 2]
====
