---- MODULE UnclosedInAction ----
EXTENDS Naturals, Sequences
VARIABLE q
Init == q = <<>>
Add(x) == q' = Append(q, (x + 1)
Next == \E x \in 0..3 : Add(x)
====
