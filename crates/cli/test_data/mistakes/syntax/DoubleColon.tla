---- MODULE DoubleColon ----
EXTENDS Naturals
VARIABLE x
Step :== x + 1
====
