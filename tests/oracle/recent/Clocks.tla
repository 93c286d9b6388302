---- MODULE Clocks ----
EXTENDS VectorClocks, TLC
VARIABLE i
Log == << [n |-> "b", vc |-> [a |-> 1, b |-> 2]], [n |-> "b", vc |-> [b |-> 1]],
          [n |-> "a", vc |-> [a |-> 2, b |-> 2]], [n |-> "a", vc |-> [a |-> 1]] >>
Ordered == CausalOrder(Log, LAMBDA e : e.vc, LAMBDA e : e.n, LAMBDA vc : DOMAIN vc)
Init == i = 1
Next == i < 4 /\ i' = i + 1
Inv == /\ IsCausalOrder(Ordered, LAMBDA e : e.vc)
       /\ ~IsCausalOrder(Log, LAMBDA e : e.vc)
====
