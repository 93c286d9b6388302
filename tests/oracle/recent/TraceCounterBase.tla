---- MODULE TraceCounterBase ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Up == x < 9 /\ x' = x + 1
Reset == x > 1 /\ x' = 0
Next == Up \/ Reset
Small == x < 4
Spec == Init /\ [][Next]_x
FairSpec == LET n == 4 IN Spec /\ [](x < n + 6) /\ WF_x(Next)
====
