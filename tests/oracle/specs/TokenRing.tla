---- MODULE TokenRing ----
\* Dijkstra's ring: from any state, K counters end with one privilege.
EXTENDS Naturals, FiniteSets
CONSTANTS N, K
VARIABLE c
Node == 0..(N - 1)
Has(i) == IF i = 0 THEN c[0] = c[N - 1] ELSE c[i] # c[i - 1]
Init == c \in [Node -> 0..(K - 1)]
Move(i) == Has(i) /\ c' = [c EXCEPT ![i] = IF i = 0 THEN (@ + 1) % K ELSE c[i - 1]]
Next == \E i \in Node : Move(i)
SomeHas == \E i \in Node : Has(i)
Privileges == Cardinality({i \in Node : Has(i)})
====
