---- MODULE SetOfMixedKindsCounted ----
EXTENDS Naturals, FiniteSets
ASSUME Cardinality({1, "a"}) = 2
====
