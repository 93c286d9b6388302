---- MODULE EqualsOfC ----
EXTENDS Naturals
VARIABLE x
IsOne == x == 1
====
