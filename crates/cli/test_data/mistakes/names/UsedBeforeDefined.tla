---- MODULE UsedBeforeDefined ----
EXTENDS Naturals
Two == One + 1
One == 1
====
