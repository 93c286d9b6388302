---- MODULE EnumerateStrings ----
EXTENDS Naturals
ASSUME \E s \in STRING : s = "a"
====
