---- MODULE ForallWitnesses ----
\* `\A` in an action is a conjunction whose parts may each be true in several ways, all with names of their own.
EXTENDS Integers
VARIABLE x
Init == x = 0
Pick == /\ \E q \in {{1, 2}, {1, 3}} : \A a \in q : \E m \in q \cup {a + 3} : m = a \/ m = a + 3
        /\ x' = (x + 1) % 3
Narrow == /\ \A a \in 1..3 : \E b \in 1..3 : LET c == a + b IN c = 4 \/ (c = 3 /\ a = 1)
          /\ x' = (x + 2) % 3
Next == Pick \/ Narrow
====
