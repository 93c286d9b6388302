---- MODULE MissingElse ----
EXTENDS Naturals
Min(a, b) == IF a < b THEN a
Three == 3
====
