---- MODULE SetOfMixedKinds ----
EXTENDS Naturals, FiniteSets
ASSUME {1, "a"} = {}
====
