---- MODULE InstanceWith ----
\* Two named instances over parts of one function.
EXTENDS Naturals
VARIABLES left, right
Up(n) == n + 1
Down(n) == n + 2
L == INSTANCE Store WITH Bound <- 3, Step <- Up, cell <- left
R == INSTANCE Store WITH Bound <- 4, Step <- Down, cell <- right
Init == L!Init /\ R!Init
Next == \/ L!Next /\ UNCHANGED right
        \/ R!Write /\ UNCHANGED left
        \/ R!Clear /\ L!Clear
Ok == L!Ok /\ R!Ok
====
