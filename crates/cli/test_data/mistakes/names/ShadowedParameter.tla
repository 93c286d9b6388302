---- MODULE ShadowedParameter ----
EXTENDS Naturals
Limit == 3
Below(Limit) == 1..Limit
====
