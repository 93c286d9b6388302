---- MODULE DefinitionInExpression ----
EXTENDS Naturals
Two == IF 1 == 2 THEN 3 ELSE 4
====
