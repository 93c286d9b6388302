---- MODULE InitSubset ----
\* Initial values from SUBSET, records and products.
EXTENDS Naturals, FiniteSets
VARIABLES s, r, p
Init == s \in SUBSET {1, 2, 3} /\ r \in [n : s, t : BOOLEAN] /\ p \in s \X {0, 1} /\ p[1] >= r.n
Next == s' = s \ {r.n} /\ s' # {} /\ r' = [r EXCEPT !.n = CHOOSE e \in s' : TRUE] /\ UNCHANGED p
====
