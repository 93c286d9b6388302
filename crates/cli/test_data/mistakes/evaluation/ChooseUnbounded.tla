---- MODULE ChooseUnbounded ----
EXTENDS Naturals
ASSUME (CHOOSE i : i > 5) = 1
====
