---- MODULE EqualsTwice ----
EXTENDS Naturals
VARIABLES a, b, c
Same == a = b = c
====
