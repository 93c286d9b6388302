---- MODULE UndefinedOperator ----
EXTENDS Naturals
Capacity(x) == x
Two == Capcity(2)
====
