---- MODULE Constrained ----
\* A state constraint bounds an unbounded space; states beyond it are counted but not explored.
EXTENDS Naturals, Sequences
VARIABLES q, n
Short == Len(q) <= 3 /\ n < 3
Init == q = <<>> /\ n \in {0, 7}
Next == \/ q' = Append(q, n) /\ n' = n
        \/ n' = n + 1 /\ UNCHANGED q
        \/ q # <<>> /\ q' = Tail(q) /\ UNCHANGED n
Ok == Len(q) < 5
====
