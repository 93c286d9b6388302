---- MODULE SetTooLarge ----
EXTENDS Naturals
ASSUME SUBSET (1..40) = {}
====
