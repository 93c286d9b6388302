---- MODULE TupleAgainstString ----
EXTENDS Naturals
ASSUME [a |-> 1, b |-> <<1, "x">>] = [a |-> 1, b |-> <<1, 2>>]
====
