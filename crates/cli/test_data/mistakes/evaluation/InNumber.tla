---- MODULE InNumber ----
EXTENDS Naturals
ASSUME 1 \in 3
====
