---- MODULE KeywordAsName ----
EXTENDS Naturals
VARIABLE THEN
CASE == 3
====
