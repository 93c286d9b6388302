---- MODULE Bagged ----
\* Messages in a bag may be there more than once.
EXTENDS Naturals, Bags, FiniteSets
VARIABLES net, got
Init == net = EmptyBag /\ got = EmptyBag
Send(m) == BagCardinality(net) < 3 /\ net' = net (+) SetToBag({m}) /\ UNCHANGED got
Receive(m) == BagIn(m, net) /\ net' = net (-) SetToBag({m}) /\ BagCardinality(got) < 2 /\ got' = got (+) SetToBag({m})
Lose == net # EmptyBag /\ net' = EmptyBag /\ UNCHANGED got
Forget == BagCardinality(got) = 2 /\ got' = EmptyBag /\ UNCHANGED net
Next == (\E m \in {"a", "b"} : Send(m) \/ Receive(m)) \/ Lose \/ Forget
Ok == \A m \in BagToSet(net) : CopiesIn(m, net) \in 1..3
====
