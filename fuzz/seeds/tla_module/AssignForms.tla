---- MODULE AssignForms ----
\* Every way to give a variable its next value.
EXTENDS Integers
VARIABLES x, y, s
vars == <<x, y, s>>
Init == x = 0 /\ y \in 0..1 /\ s = {}
ByEquality == x < 3 /\ x' = x + 1 /\ y' = y /\ s' = s
ByMembership == x' \in {0, 2} /\ UNCHANGED y /\ UNCHANGED <<s>>
BySubset == s' \in SUBSET {1, 2} /\ UNCHANGED <<x, y>>
ByTest == x' = 1 /\ x' \in {1, 5} /\ x' # 2 /\ UNCHANGED <<y, s>>
ByChain == y' = 1 - y /\ x' = y' + 1 /\ s' = {x', y'} \cap {1, 2}
Refused == x' = 1 /\ x' = 2 /\ UNCHANGED <<y, s>>
Next == ByEquality \/ ByMembership \/ BySubset \/ ByTest \/ ByChain \/ Refused
TypeOK == x \in 0..3 /\ y \in 0..1 /\ s \subseteq {1, 2}
====
