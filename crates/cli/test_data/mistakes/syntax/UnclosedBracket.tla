---- MODULE UnclosedBracket ----
EXTENDS Naturals
f == [x \in 1..3 |-> x
Three == 3
====
