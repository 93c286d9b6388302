---- MODULE open ----
a == 1
b == (2
