---- MODULE UndefinedName ----
EXTENDS Naturals
VARIABLE counter
Init == countr = 0
====
