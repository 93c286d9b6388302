---- MODULE CrdtCounter ----
\* A counter that only grows, merged by maximum; replicas agree when all have heard of all.
EXTENDS Naturals
CONSTANTS N, Max
VARIABLES know, made
R == 1..N
Larger(a, b) == IF a > b THEN a ELSE b
RECURSIVE Total(_, _)
Total(f, i) == IF i = 0 THEN 0 ELSE f[i] + Total(f, i - 1)
Init == know = [r \in R |-> [s \in R |-> 0]] /\ made = 0
Add(r) == made < Max /\ made' = made + 1 /\ know' = [know EXCEPT ![r][r] = @ + 1]
Merge(r, s) == know' = [know EXCEPT ![r] = [k \in R |-> Larger(know[r][k], know[s][k])]] /\ UNCHANGED made
Next == \E r \in R : Add(r) \/ \E s \in R \ {r} : Merge(r, s)
Value(r) == Total(know[r], N)
Bounded == \A r \in R : Value(r) <= made
Converged == (\A r, s \in R : know[r] = know[s]) => \A r \in R : Value(r) = made
====
