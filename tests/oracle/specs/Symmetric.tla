---- MODULE Symmetric ----
\* The same lock with and without symmetry (see Asymmetric).
EXTENDS Naturals, FiniteSets, TLC
CONSTANT Procs
VARIABLES waiting, owner, turns
Sym == Permutations(Procs)
Init == waiting = {} /\ owner = {} /\ turns = [p \in Procs |-> 0]
Ask(p) == p \notin waiting \cup owner /\ waiting' = waiting \cup {p} /\ UNCHANGED <<owner, turns>>
Get(p) == p \in waiting /\ owner = {} /\ owner' = {p} /\ waiting' = waiting \ {p} /\ UNCHANGED turns
Let(p) == p \in owner /\ owner' = {} /\ turns' = [turns EXCEPT ![p] = (@ + 1) % 3] /\ UNCHANGED waiting
Next == \E p \in Procs : Ask(p) \/ Get(p) \/ Let(p)
One == Cardinality(owner) <= 1
====
