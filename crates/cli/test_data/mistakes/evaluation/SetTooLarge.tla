---- MODULE SetTooLarge ----
EXTENDS Naturals
ASSUME UNION {SUBSET (1..40)} = {}
====
