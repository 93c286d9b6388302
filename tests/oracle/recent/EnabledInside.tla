---- MODULE EnabledInside ----
EXTENDS Integers
VARIABLE x
Step == x < 3 /\ x' = x + 1
Set(v) == x < v /\ x' = v
CanStep == ENABLED Step
CanChoose == ENABLED (x' \in 0..3)
CanStay == ENABLED UNCHANGED x
CanMeet == ENABLED (x' = 2 /\ x' = x + 1)
CanAngle == ENABLED <<x' = x>>_x
CanGrow == ENABLED (x' = 3 /\ x' > x)
CanRead == ENABLED (x' = 7 /\ (x + 1)' = 8)
CanCall == ENABLED Set(3)
CanPick == ENABLED (\E v \in 2..3 : x' = v /\ x' = x + 1)
CanIf == ENABLED (IF x > 2 THEN x' = 0 ELSE UNCHANGED x)
CanPrime == ENABLED (UNCHANGED x /\ x' = x)
====
