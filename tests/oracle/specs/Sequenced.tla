---- MODULE Sequenced ----
\* The operators of Sequences.
EXTENDS Naturals, Sequences
VARIABLE q
Small == Len(q) <= 4
Init == q = <<>>
Next == \/ Small /\ \E e \in 0..1 : q' = Append(q, e)
        \/ q # <<>> /\ q' = Tail(q)
        \/ Len(q) > 1 /\ q' = SubSeq(q, 2, Len(q)) \o <<Head(q)>>
        \/ q' = SelectSeq(q, LAMBDA e : e = 1)
        \/ Len(q) = 2 /\ q' = q \o q
Ok == q \in Seq(0..1) /\ Len(q) <= 5
====
