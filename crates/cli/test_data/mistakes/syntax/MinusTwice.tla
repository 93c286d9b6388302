---- MODULE MinusTwice ----
EXTENDS Naturals
Nothing == 1 - - 1
X == 1 * * 2
====
