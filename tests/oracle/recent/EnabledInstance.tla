---- MODULE EnabledInstance ----
EXTENDS Integers
VARIABLES y, z
I == INSTANCE EnabledInside WITH x <- y + 1
J(k) == INSTANCE EnabledInside WITH x <- y + k
Init == y = 0 /\ z = 0
Next == y < 4 /\ y' = y + 1 /\ z' \in {z, y}
Inv ==
    /\ I!CanStep <=> y + 1 < 3
    /\ I!CanChoose
    /\ I!CanStay
    /\ I!CanMeet <=> y = 0
    /\ ~I!CanAngle
    /\ I!CanGrow <=> y + 1 < 3
    /\ I!CanRead
    /\ I!CanCall <=> y + 1 < 3
    /\ \A k \in 1..2 : J(k)!CanStep <=> y + k < 3
    /\ I!CanPick <=> y + 1 \in 1..2
    /\ I!CanIf
    /\ I!CanPrime
====
