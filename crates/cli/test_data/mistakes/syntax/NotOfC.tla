---- MODULE NotOfC ----
EXTENDS Naturals
VARIABLE x
Positive == !(x > 0)
====
