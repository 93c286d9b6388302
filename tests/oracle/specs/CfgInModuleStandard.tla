---- MODULE CfgInModuleStandard ----
\* An operator of a standard module that is replaced inside of one module is replaced everywhere.
EXTENDS Bounded, Integers
VARIABLE x
Few == 0..15
Init == x \in Numbers
Next == x' \in Numbers
Ok == 20 \notin Nat
====
