---- MODULE DuplicateDefinition ----
EXTENDS Naturals
Two == 1 + 1
Two == 2
====
