---- MODULE BenchTickets ----
\* The bakery with five customers: an asymmetric protocol over functions.
EXTENDS Bakery
====
