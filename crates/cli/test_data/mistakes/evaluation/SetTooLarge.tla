---- MODULE SetTooLarge ----
EXTENDS Naturals
ASSUME {s \cup {0} : s \in SUBSET (1..40)} = {}
====
