---- MODULE FunctionCalledAsOperator ----
EXTENDS Naturals
f[x \in 1..3] == x
Three == f(3)
====
