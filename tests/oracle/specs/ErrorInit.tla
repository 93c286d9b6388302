---- MODULE ErrorInit ----
\* The initial predicate has no value.
EXTENDS Sequences
VARIABLE x
Init == x = Head(<<>>)
Next == x' = x
====
