---- MODULE Hanoi ----
\* Discs as sequences of numbers on three pegs; the end is a broken invariant fifteen steps deep.
EXTENDS Naturals, Sequences
CONSTANT N
VARIABLE peg
Init == peg = <<[i \in 1..N |-> i], <<>>, <<>>>>
Move(a, b) == /\ peg[a] # <<>>
              /\ IF peg[b] = <<>> THEN TRUE ELSE Head(peg[a]) < Head(peg[b])
              /\ peg' = [peg EXCEPT ![a] = Tail(@), ![b] = <<Head(peg[a])>> \o @]
Next == \E a, b \in 1..3 : a # b /\ Move(a, b)
NotOver == Len(peg[3]) < N
====
