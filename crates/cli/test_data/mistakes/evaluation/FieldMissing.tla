---- MODULE FieldMissing ----
EXTENDS Naturals
r == [name |-> "a", age |-> 3]
ASSUME r.nmae = "a"
====
