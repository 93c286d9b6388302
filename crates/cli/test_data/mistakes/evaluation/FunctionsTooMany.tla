---- MODULE FunctionsTooMany ----
EXTENDS Naturals
ASSUME [1..20 -> 1..20] = {}
====
