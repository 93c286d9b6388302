---- MODULE ExtendsChain ----
\* EXTENDS through three modules, and names that are LOCAL there and free here.
EXTENDS Ring
Secret == 7
Cardinality(x) == x + Secret
Init == Start
Next == Forward \/ pos' = Wrap(pos + 2)
Ok == pos \in Cells /\ Count = Size /\ Cardinality(1) = 8
====
