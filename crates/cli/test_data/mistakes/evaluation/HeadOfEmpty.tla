---- MODULE HeadOfEmpty ----
EXTENDS Sequences
ASSUME Head(<<>>) = 1
====
