---- MODULE ForAllWays ----
\* Each choice of a universal quantifier has several ways to be tried and one to be true.
EXTENDS Naturals
VARIABLE x
Pairs == {<<a, b>> : a \in 1..2, b \in 1..3}
Init == x = 0
Next == /\ x < 2
        /\ \E q \in {{1, 2}, {1, 3}} : \A b \in q : \E p \in Pairs : \E a \in 1..2 : p = <<a, b>> /\ a = 1
        /\ x' = x + 1
====
