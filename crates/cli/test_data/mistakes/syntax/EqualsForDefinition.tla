---- MODULE EqualsForDefinition ----
EXTENDS Naturals
Two = 1 + 1
====
