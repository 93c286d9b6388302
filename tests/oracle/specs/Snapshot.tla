---- MODULE Snapshot ----
\* Chandy and Lamport's snapshot of two accounts with two channels: no money is lost or made.
EXTENDS Naturals, Sequences
CONSTANT Money
VARIABLES has, chan, saved, kept, marked
P == {1, 2}
To(p) == 3 - p
Init == /\ has = <<Money, Money>> /\ chan = <<<<>>, <<>>>>
        /\ saved = <<99, 99>> /\ kept = <<<<>>, <<>>>> /\ marked = {}
Pay(p) == /\ has[p] > 0 /\ Len(chan[p]) < 3 /\ has' = [has EXCEPT ![p] = @ - 1]
          /\ chan' = [chan EXCEPT ![p] = Append(@, "coin")] /\ UNCHANGED <<saved, kept, marked>>
Begin(p) == /\ saved = <<99, 99>> /\ saved' = [saved EXCEPT ![p] = has[p]]
            /\ chan' = [chan EXCEPT ![p] = Append(@, "marker")] /\ UNCHANGED <<has, kept, marked>>
Coin(p) == /\ chan[To(p)] # <<>> /\ Head(chan[To(p)]) = "coin" /\ has' = [has EXCEPT ![p] = @ + 1]
           /\ kept' = IF saved[p] # 99 /\ To(p) \notin marked THEN [kept EXCEPT ![p] = Append(@, "coin")] ELSE kept
           /\ chan' = [chan EXCEPT ![To(p)] = Tail(@)] /\ UNCHANGED <<saved, marked>>
Marker(p) == /\ chan[To(p)] # <<>> /\ Head(chan[To(p)]) = "marker" /\ marked' = marked \cup {To(p)}
             /\ IF saved[p] = 99
                THEN /\ saved' = [saved EXCEPT ![p] = has[p]]
                     /\ chan' = [chan EXCEPT ![To(p)] = Tail(@), ![p] = Append(@, "marker")]
                ELSE chan' = [chan EXCEPT ![To(p)] = Tail(@)] /\ UNCHANGED saved
             /\ UNCHANGED <<has, kept>>
Next == \E p \in P : Pay(p) \/ Begin(p) \/ Coin(p) \/ Marker(p)
Consistent == marked = P => saved[1] + saved[2] + Len(kept[1]) + Len(kept[2]) = 2 * Money
====
