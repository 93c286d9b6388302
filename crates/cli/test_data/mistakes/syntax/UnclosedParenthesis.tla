---- MODULE UnclosedParenthesis ----
EXTENDS Naturals
Two == (1 + 1
Three == 3
====
