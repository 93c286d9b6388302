---- MODULE CfgInModule ----
\* A definition that is replaced only inside of one module.
EXTENDS Ring
Pos2 == Wrap(12)
MyWrap(n) == n % 3
Init == Start
Next == Forward
Ok == Pos2 \in Cells
====
