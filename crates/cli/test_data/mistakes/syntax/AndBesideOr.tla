---- MODULE AndBesideOr ----
EXTENDS Naturals
VARIABLES a, b, c
Mixed == a \/ b /\ c
====
