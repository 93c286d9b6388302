---- MODULE MissingIn ----
EXTENDS Naturals
Four == LET two == 2 two + two
====
