---- MODULE AssumeTrue ----
\* Named and unnamed assumptions hold.
EXTENDS Naturals, FiniteSets
CONSTANTS N, S
VARIABLE x
ASSUME /\ N \in Nat
       /\ IsFiniteSet(S)
ASSUMPTION Size == Cardinality(S) = N
AXIOM N > 1
Init == x \in S
Next == x' \in S \ {x}
====
