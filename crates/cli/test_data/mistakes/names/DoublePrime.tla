---- MODULE DoublePrime ----
EXTENDS Naturals
VARIABLE x
Next == (x')' = 3
More == x'' = 3
====
