---- MODULE ChooseNothing ----
EXTENDS Naturals
ASSUME (CHOOSE i \in 1..3 : i > 5) = 1
====
