---- MODULE ValueForOperator ----
EXTENDS Naturals
Twice(F(_), x) == F(F(x))
One == 1
Three == Twice(One, 1)
====
