---- MODULE OperatorAppliedAsFunction ----
EXTENDS Naturals
F(x) == x
Three == F[3]
====
