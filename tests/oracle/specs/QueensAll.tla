---- MODULE QueensAll ----
\* All partial placements of queens.
EXTENDS Integers, Sequences
CONSTANT N
VARIABLE cols
Attacks(i, j, a, b) == a = b \/ j - i = b - a \/ j - i = a - b
Fits(c) == \A i \in 1..Len(cols) : ~Attacks(i, Len(cols) + 1, cols[i], c)
Init == cols = <<>>
Next == Len(cols) < N /\ \E c \in 1..N : Fits(c) /\ cols' = Append(cols, c)
Unsolved == Len(cols) < N
Sound == \A i, j \in 1..Len(cols) : i < j => ~Attacks(i, j, cols[i], cols[j])
====
