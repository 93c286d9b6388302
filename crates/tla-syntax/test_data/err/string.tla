---- MODULE string ----
a == "abc
b == "x"
c == (1
====
