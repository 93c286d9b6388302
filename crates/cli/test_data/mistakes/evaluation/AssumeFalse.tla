---- MODULE AssumeFalse ----
EXTENDS Naturals
ASSUME 2 > 3
====
