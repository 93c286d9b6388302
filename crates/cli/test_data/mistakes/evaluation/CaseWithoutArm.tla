---- MODULE CaseWithoutArm ----
EXTENDS Naturals
Sign(n) == CASE n > 0 -> 1 [] n < 0 -> 2
ASSUME Sign(0) = 0
====
