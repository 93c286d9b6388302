---- MODULE TwoSymmetries ----
\* Two sets of interchangeable values at once.
EXTENDS FiniteSets, TLC
CONSTANTS Readers, Books
VARIABLE lent
Sym == Permutations(Readers) \cup Permutations(Books)
Init == lent = [b \in Books |-> {}]
Lend(r, b) == lent[b] = {} /\ lent' = [lent EXCEPT ![b] = {r}]
Share(r, b) == lent[b] # {} /\ r \notin lent[b] /\ lent' = [lent EXCEPT ![b] = @ \cup {r}]
Return(b) == lent[b] # {} /\ lent' = [lent EXCEPT ![b] = {}]
Next == \E b \in Books : Return(b) \/ \E r \in Readers : Lend(r, b) \/ Share(r, b)
====
