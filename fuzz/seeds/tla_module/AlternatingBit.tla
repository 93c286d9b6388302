---- MODULE AlternatingBit ----
\* Messages get through lossy channels that keep their order.
EXTENDS Naturals, Sequences
CONSTANTS Items, Room
VARIABLES sbit, rbit, item, got, data, acks
Without(q, i) == SubSeq(q, 1, i - 1) \o SubSeq(q, i + 1, Len(q))
Init == sbit = 0 /\ rbit = 1 /\ item = 1 /\ got = 0 /\ data = <<>> /\ acks = <<>>
Send == item <= Items /\ Len(data) < Room /\ data' = Append(data, <<item, sbit>>) /\ UNCHANGED <<sbit, rbit, item, got, acks>>
Receive == /\ data # <<>> /\ data' = Tail(data) /\ Len(acks) < Room
           /\ IF Head(data)[2] # rbit THEN rbit' = Head(data)[2] /\ got' = Head(data)[1] ELSE UNCHANGED <<rbit, got>>
           /\ acks' = Append(acks, rbit') /\ UNCHANGED <<sbit, item>>
Heard == /\ acks # <<>> /\ acks' = Tail(acks)
         /\ IF Head(acks) = sbit THEN sbit' = 1 - sbit /\ item' = item + 1 ELSE UNCHANGED <<sbit, item>>
         /\ UNCHANGED <<rbit, got, data>>
Lose == \/ \E i \in 1..Len(data) : data' = Without(data, i) /\ UNCHANGED <<sbit, rbit, item, got, acks>>
        \/ \E i \in 1..Len(acks) : acks' = Without(acks, i) /\ UNCHANGED <<sbit, rbit, item, got, data>>
Next == Send \/ Receive \/ Heard \/ Lose
InOrder == got = item \/ got = item - 1
====
