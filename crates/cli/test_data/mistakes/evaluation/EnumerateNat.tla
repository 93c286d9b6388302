---- MODULE EnumerateNat ----
EXTENDS Naturals
ASSUME \A n \in Nat : n >= 0
====
