---- MODULE InstanceNested ----
\* An instance of a module with an instance.
EXTENDS Naturals
VARIABLES p, q
A == INSTANCE Middle WITH Limit <- 2, m <- p
B == INSTANCE Middle WITH Limit <- 3, m <- q
Bump(n) == n
Init == A!Begin /\ B!Begin
Next == (A!Move /\ UNCHANGED q) \/ (B!Inner!Next /\ UNCHANGED p)
Ok == A!Inner!Ok /\ B!Inner!Ok
====
