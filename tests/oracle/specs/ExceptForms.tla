---- MODULE ExceptForms ----
\* EXCEPT on functions, records, sequences, nested, with @, several, and outside the domain.
EXTENDS Naturals, Sequences
VARIABLES f, r, q
Init == f = [i \in 0..1 |-> [j \in 1..2 |-> 0]] /\ r = [n |-> 0, inner |-> [m |-> 1]] /\ q = <<1, 2>>
A == \E i \in 0..1, j \in 1..2 : f' = [f EXCEPT ![i][j] = 1 - @] /\ UNCHANGED <<r, q>>
B == r' = [r EXCEPT !.n = (@ + 1) % 3, !.inner.m = r.n] /\ UNCHANGED <<f, q>>
C == q' = [q EXCEPT ![1] = (@ % 3) + 1, ![2] = q[1]] /\ UNCHANGED <<f, r>>
D == q' = [q EXCEPT ![5] = 1] /\ r' = [r EXCEPT !.none = 1] /\ f' = [f EXCEPT ![9] = 1]
F == f' = [f EXCEPT ![0] = [@ EXCEPT ![1] = 1], ![0][1] = @ * 1] /\ UNCHANGED <<r, q>>
Next == A \/ B \/ C \/ D \/ F
====
