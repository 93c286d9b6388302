---- MODULE UnclosedTuple ----
EXTENDS Naturals
t == <<1, 2
Three == 3
====
