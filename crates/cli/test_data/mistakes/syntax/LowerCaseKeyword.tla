---- MODULE LowerCaseKeyword ----
EXTENDS Naturals
Min(a, b) == if a < b then a else b
====
