---- MODULE RecursionTooDeep ----
EXTENDS Naturals
RECURSIVE Sum(_)
Sum(n) == n + Sum(n + 1)
ASSUME Sum(0) = 1
====
