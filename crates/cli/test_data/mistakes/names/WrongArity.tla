---- MODULE WrongArity ----
EXTENDS Naturals
Max(a, b) == IF a > b THEN a ELSE b
Three == Max(3)
Four == Max(1, 2, 3)
====
