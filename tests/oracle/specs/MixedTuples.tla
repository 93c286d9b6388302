---- MODULE MixedTuples ----
\* Tuples, functions on 1..n and sequences are one thing; so states written differently are one state.
EXTENDS Naturals, Sequences, TLC
VARIABLE v
Init == v = <<0, 0>>
Next == \/ v' = [i \in 1..2 |-> (v[i] + 1) % 3]
        \/ v' = (1 :> v[2] @@ 2 :> v[1])
        \/ v' = Append(<<(v[1] + 1) % 3>>, v[2])
        \/ v' = [v EXCEPT ![1] = 0]
Ok == v \in (0..2) \X (0..2) /\ v \in [1..2 -> 0..2] /\ v \in Seq(0..2)
====
