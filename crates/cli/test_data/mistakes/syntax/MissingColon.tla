---- MODULE MissingColon ----
EXTENDS Naturals
ASSUME \A x \in 1..3 x > 0
====
