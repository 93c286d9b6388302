---- MODULE RecursiveFunctionTooDeep ----
EXTENDS Naturals
Sum[n \in Nat] == n + Sum[n + 1]
ASSUME Sum[0] = 1
====
