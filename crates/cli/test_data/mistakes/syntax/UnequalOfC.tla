---- MODULE UnequalOfC ----
EXTENDS Naturals
VARIABLE x
Positive == x != 0
====
