---- MODULE PcalPhilosophers ----
\* In the form of translated PlusCal: everyone takes the left fork first, so it ends in a deadlock.
EXTENDS Naturals
CONSTANT N
VARIABLES fork, pc
vars == <<fork, pc>>
ProcSet == (0..N-1)
Init == /\ fork = [i \in 0..N-1 |-> N]
        /\ pc = [self \in ProcSet |-> "think"]
think(self) == /\ pc[self] = "think"
               /\ fork[self] = N
               /\ fork' = [fork EXCEPT ![self] = self]
               /\ pc' = [pc EXCEPT ![self] = "second"]
second(self) == /\ pc[self] = "second"
                /\ fork[(self + 1) % N] = N
                /\ fork' = [fork EXCEPT ![(self + 1) % N] = self]
                /\ pc' = [pc EXCEPT ![self] = "eat"]
eat(self) == /\ pc[self] = "eat"
             /\ fork' = [fork EXCEPT ![self] = N, ![(self + 1) % N] = N]
             /\ pc' = [pc EXCEPT ![self] = "think"]
Next == \E self \in 0..N-1: think(self) \/ second(self) \/ eat(self)
Spec == Init /\ [][Next]_vars
Apart == \A i \in ProcSet : pc[i] = "eat" => pc[(i + 1) % N] # "eat"
====
