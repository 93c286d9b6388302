---- MODULE Overflow ----
EXTENDS Naturals
ASSUME 2147483647 + 1 > 0
====
