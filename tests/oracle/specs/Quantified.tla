---- MODULE Quantified ----
\* \E and \A as actions, nested and with several bounds.
EXTENDS Naturals, FiniteSets
CONSTANT N
VARIABLES f, log
Init == f = [i \in 1..N |-> 0] /\ log = {}
Set(i, v) == f' = [f EXCEPT ![i] = v] /\ log' = log
Any == \E i \in 1..N : \E v \in {0, 1, 2} : Set(i, v)
Both == \E i, j \in 1..N : i < j /\ f[i] = f[j] /\ f' = [f EXCEPT ![i] = 2, ![j] = 1] /\ log' = log \cup {<<i, j>>}
Pick == \E <<i, v>> \in {<<1, 2>>, <<2, 0>>} : f[i] # v /\ Set(i, v)
Every == \A i \in {1} : Set(i, 0)
Never == \E i \in {} : Set(i, 0)
Next == Any \/ Both \/ Pick \/ Every \/ Never
====
