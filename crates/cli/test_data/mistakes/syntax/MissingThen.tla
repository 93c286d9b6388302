---- MODULE MissingThen ----
EXTENDS Naturals
Min(a, b) == IF a < b a ELSE b
====
