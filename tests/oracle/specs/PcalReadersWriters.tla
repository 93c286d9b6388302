---- MODULE PcalReadersWriters ----
\* In the form of translated PlusCal: a procedure with a stack, readers, and one writer at a time.
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Readers, Writers
VARIABLES readers, writing, pc, stack, rounds
vars == <<readers, writing, pc, stack, rounds>>
ProcSet == Readers \cup Writers
Init == /\ readers = 0
        /\ writing = FALSE
        /\ rounds = 0
        /\ stack = [self \in ProcSet |-> <<>>]
        /\ pc = [self \in ProcSet |-> "start"]
enter(self) == /\ pc[self] = "enter"
               /\ IF self \in Readers
                     THEN /\ ~writing
                          /\ readers' = readers + 1
                          /\ UNCHANGED writing
                     ELSE /\ ~writing /\ readers = 0
                          /\ writing' = TRUE
                          /\ UNCHANGED readers
               /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
               /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
               /\ UNCHANGED rounds
start(self) == /\ pc[self] = "start"
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |-> "acquire", pc |-> "inside" ] >> \o stack[self]]
               /\ pc' = [pc EXCEPT ![self] = "enter"]
               /\ UNCHANGED << readers, writing, rounds >>
inside(self) == /\ pc[self] = "inside"
                /\ IF self \in Writers THEN rounds' = (rounds + 1) % 3 ELSE rounds' = rounds
                /\ pc' = [pc EXCEPT ![self] = "leave"]
                /\ UNCHANGED << readers, writing, stack >>
leave(self) == /\ pc[self] = "leave"
               /\ IF self \in Readers
                     THEN readers' = readers - 1 /\ writing' = writing
                     ELSE writing' = FALSE /\ readers' = readers
               /\ pc' = [pc EXCEPT ![self] = "start"]
               /\ UNCHANGED << stack, rounds >>
Next == \E self \in ProcSet : enter(self) \/ start(self) \/ inside(self) \/ leave(self)
Spec == Init /\ [][Next]_vars
In == {p \in ProcSet : pc[p] \in {"inside", "leave"}}
Safe == /\ readers = Cardinality(In \cap Readers)
        /\ (\E w \in Writers : w \in In) => Cardinality(In) = 1
====
