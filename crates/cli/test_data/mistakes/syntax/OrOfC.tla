---- MODULE OrOfC ----
EXTENDS Naturals
VARIABLE x
Positive == x > 0 || x < 9
====
