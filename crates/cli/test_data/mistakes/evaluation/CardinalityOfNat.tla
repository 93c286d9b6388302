---- MODULE CardinalityOfNat ----
EXTENDS Naturals, FiniteSets
ASSUME Cardinality(Nat) = 3
====
