---- MODULE comment ----
a == (b
c == 1 (* never
====
