---- MODULE ShadowedName ----
EXTENDS Naturals
VARIABLE x
All == \A x \in 1..3 : x > 0
====
