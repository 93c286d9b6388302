---- MODULE MissingEnd ----
EXTENDS Naturals
Two == 1 + 1
