---- MODULE OperatorForValue ----
EXTENDS Naturals
Max(a, b) == IF a > b THEN a ELSE b
Three == Max + 1
====
