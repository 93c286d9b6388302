---- MODULE ArgumentsToConstant ----
EXTENDS Naturals
CONSTANT Limit
Three == Limit(3)
====
