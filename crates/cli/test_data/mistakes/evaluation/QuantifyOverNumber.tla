---- MODULE QuantifyOverNumber ----
EXTENDS Naturals
ASSUME \A i \in 3 : i > 0
====
