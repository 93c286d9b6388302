---- MODULE Ring ----
\* A part of ExtendsChain.
EXTENDS Base
LOCAL INSTANCE FiniteSets
Cells == 0..(Size - 1)
Count == Cardinality(Cells)
Forward == pos' = Wrap(pos + 1)
====
