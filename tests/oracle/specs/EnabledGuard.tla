---- MODULE EnabledGuard ----
\* ENABLED in a guard and in an invariant.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
A == x < 3 /\ x' = x + 1 /\ UNCHANGED y
B == y < x /\ y' = y + 1 /\ UNCHANGED x
C == ~ENABLED A /\ ~ENABLED B /\ x' = 0 /\ y' = 0
D == ENABLED (A \/ B) /\ x = y /\ x' = x /\ y' = y
Next == A \/ B \/ C \/ D
Ok == ENABLED Next /\ (ENABLED C => x = 3)
====
