---- MODULE PcalQueue ----
\* In the form of translated PlusCal: a producer and two consumers with await.
EXTENDS Naturals, Sequences
CONSTANTS Items, Room
VARIABLES queue, sent, got, pc, item
vars == <<queue, sent, got, pc, item>>
ProcSet == {"prod"} \cup {"c1", "c2"}
Init == /\ queue = <<>>
        /\ sent = 0
        /\ got = {}
        /\ item = [self \in {"c1", "c2"} |-> 0]
        /\ pc = [self \in ProcSet |-> CASE self = "prod" -> "produce"
                                        [] self \in {"c1", "c2"} -> "take"]
produce == /\ pc["prod"] = "produce"
           /\ IF sent < Items
                 THEN /\ Len(queue) < Room
                      /\ sent' = sent + 1
                      /\ queue' = Append(queue, sent')
                      /\ pc' = [pc EXCEPT !["prod"] = "produce"]
                 ELSE /\ pc' = [pc EXCEPT !["prod"] = "Done"]
                      /\ UNCHANGED << queue, sent >>
           /\ UNCHANGED << got, item >>
take(self) == /\ pc[self] = "take"
              /\ queue # <<>>
              /\ item' = [item EXCEPT ![self] = Head(queue)]
              /\ queue' = Tail(queue)
              /\ pc' = [pc EXCEPT ![self] = "use"]
              /\ UNCHANGED << sent, got >>
use(self) == /\ pc[self] = "use"
             /\ got' = (got \cup {item[self]})
             /\ pc' = [pc EXCEPT ![self] = "take"]
             /\ UNCHANGED << queue, sent, item >>
Next == produce \/ (\E self \in {"c1", "c2"}: take(self) \/ use(self))
Spec == Init /\ [][Next]_vars
Bounded == Len(queue) <= Room /\ got \subseteq 1..sent
Ordered == \A i \in 1..(Len(queue) - 1) : queue[i] < queue[i + 1]
====
