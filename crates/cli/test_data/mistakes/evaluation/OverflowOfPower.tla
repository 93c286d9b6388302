---- MODULE OverflowOfPower ----
EXTENDS Naturals
ASSUME 2 ^ 40 > 0
====
