---- MODULE ApplyNumber ----
EXTENDS Naturals
n == 3
ASSUME n[1] = 1
====
