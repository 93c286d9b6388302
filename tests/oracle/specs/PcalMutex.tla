---- MODULE PcalMutex ----
\* In the form of translated PlusCal: test-and-set, with a local variable and termination.
EXTENDS Naturals
CONSTANT N
VARIABLES lock, turns, pc, had
vars == <<lock, turns, pc, had>>
ProcSet == (1..N)
Init == (* Global variables *)
        /\ lock = FALSE
        /\ turns = 0
        (* Process worker *)
        /\ had = [self \in 1..N |-> FALSE]
        /\ pc = [self \in ProcSet |-> "try"]
try(self) == /\ pc[self] = "try"
             /\ had' = [had EXCEPT ![self] = lock]
             /\ lock' = TRUE
             /\ pc' = [pc EXCEPT ![self] = "look"]
             /\ UNCHANGED turns
look(self) == /\ pc[self] = "look"
              /\ IF had[self]
                    THEN /\ pc' = [pc EXCEPT ![self] = "try"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "cs"]
              /\ UNCHANGED << lock, turns, had >>
cs(self) == /\ pc[self] = "cs"
            /\ turns' = turns + 1
            /\ lock' = FALSE
            /\ pc' = [pc EXCEPT ![self] = "Done"]
            /\ had' = had
worker(self) == try(self) \/ look(self) \/ cs(self)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars
Next == (\E self \in 1..N: worker(self)) \/ Terminating
Spec == Init /\ [][Next]_vars
Exclusive == \A i, j \in ProcSet : i # j => ~(pc[i] = "cs" /\ pc[j] = "cs")
Counted == (\A self \in ProcSet : pc[self] = "Done") => turns = N
====
