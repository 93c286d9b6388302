---- MODULE AddString ----
EXTENDS Naturals
ASSUME 1 + "2" = 3
====
