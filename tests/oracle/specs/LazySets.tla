---- MODULE LazySets ----
\* Sets that are never gone through: membership in Nat, Seq, functions into Nat, filters and unions of them.
EXTENDS Integers, Sequences
VARIABLES x, q
Odd == {n \in Nat : n % 2 = 1}
Init == x = 0 /\ q = <<>>
Next == \/ x < 5 /\ x' = x + 1 /\ UNCHANGED q
        \/ x \in Odd /\ x + 1 \notin Odd /\ Len(q) < 2 /\ q' = Append(q, x) /\ x' = 0
        \/ q \in Seq(Odd \cup {0}) /\ q # <<>> /\ q' = Tail(q) /\ UNCHANGED x
Ok == /\ x \in Nat /\ -x \in Int /\ q \in Seq(Nat) /\ {x} \in SUBSET Nat
      /\ [i \in 1..2 |-> x] \in [1..2 -> Nat] /\ <<x, q>> \in Nat \X Seq(Int)
      /\ [a |-> x] \in [a : Nat \ {7}] /\ x \in Odd \cup Nat
====
