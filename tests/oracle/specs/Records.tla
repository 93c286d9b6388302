---- MODULE Records ----
\* Sets of records, records as messages, fields as strings.
EXTENDS Naturals, FiniteSets
VARIABLES box, last
Message == [kind : {"ask"}, from : 1..2] \cup [kind : {"tell"}, from : 1..2, word : {"yes", "no"}]
Init == box = {} /\ last = [kind |-> "none"]
Send == \E m \in Message : m \notin box /\ Cardinality(box) < 3 /\ box' = box \cup {m} /\ UNCHANGED last
Read == \E m \in box : box' = box \ {m} /\ last' = m
Next == Send \/ Read
Ok == last \in Message \cup {[kind |-> "none"]} /\ (last["kind"] = "tell" => last.word \in {"yes", "no"})
====
