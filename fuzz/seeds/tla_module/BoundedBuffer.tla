---- MODULE BoundedBuffer ----
\* Threads wait in one set and are woken by any; with too many threads all may wait.
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Producers, Consumers, Room
VARIABLES buffer, waiting
Threads == Producers \cup Consumers
Init == buffer = <<>> /\ waiting = {}
Wake == IF waiting = {} THEN waiting' = waiting ELSE \E t \in waiting : waiting' = waiting \ {t}
Sleep(t) == waiting' = waiting \cup {t} /\ UNCHANGED buffer
Put(t) == IF Len(buffer) < Room THEN buffer' = Append(buffer, t) /\ Wake ELSE Sleep(t)
Get(t) == IF buffer # <<>> THEN buffer' = Tail(buffer) /\ Wake ELSE Sleep(t)
Next == \E t \in Threads \ waiting : IF t \in Producers THEN Put(t) ELSE Get(t)
AwakeSome == waiting # Threads
====
