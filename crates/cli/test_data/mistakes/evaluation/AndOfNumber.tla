---- MODULE AndOfNumber ----
EXTENDS Naturals
ASSUME TRUE /\ 3
====
