---- MODULE HanoiEager ----
\* Hanoi with a disjunction as a guard: in an action both sides are tried, so the head of an empty peg is taken.
EXTENDS Naturals, Sequences
CONSTANT N
VARIABLE peg
Init == peg = <<[i \in 1..N |-> i], <<>>, <<>>>>
Move(a, b) == /\ peg[a] # <<>>
              /\ peg[b] = <<>> \/ Head(peg[a]) < Head(peg[b])
              /\ peg' = [peg EXCEPT ![a] = Tail(@), ![b] = <<Head(peg[a])>> \o @]
Next == \E a, b \in 1..3 : a # b /\ Move(a, b)
NotOver == Len(peg[3]) < N
====
