---- MODULE PrimedConstant ----
EXTENDS Naturals
CONSTANT Limit
Next == Limit' = 3
====
