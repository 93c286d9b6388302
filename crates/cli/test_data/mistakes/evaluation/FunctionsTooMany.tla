---- MODULE FunctionsTooMany ----
EXTENDS Naturals, FiniteSets
ASSUME UNION {[1..20 -> 1..20]} = {}
====
