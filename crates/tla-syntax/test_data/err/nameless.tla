---- MODULE ----
a == 1
====
