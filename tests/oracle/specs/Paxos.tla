---- MODULE Paxos ----
\* One decree, three acceptors, two ballots with a value each.
EXTENDS Integers, FiniteSets
CONSTANTS Acceptors, Ballots, Values
VARIABLES promised, voted, msgs
Quorums == {q \in SUBSET Acceptors : 2 * Cardinality(q) > Cardinality(Acceptors)}
Init == promised = [a \in Acceptors |-> -1] /\ voted = [a \in Acceptors |-> [bal |-> -1, val |-> 0]] /\ msgs = {}
Send(m) == msgs' = msgs \cup {m}
Ask(b) == Send([t |-> "1a", bal |-> b]) /\ UNCHANGED <<promised, voted>>
Promise(a) == \E m \in msgs : /\ m.t = "1a" /\ m.bal > promised[a]
                              /\ promised' = [promised EXCEPT ![a] = m.bal]
                              /\ Send([t |-> "1b", bal |-> m.bal, from |-> a, last |-> voted[a]])
                              /\ UNCHANGED voted
Propose(b, v) == /\ ~\E m \in msgs : m.t = "2a" /\ m.bal = b
                 /\ \E q \in Quorums :
                      LET heard == {m \in msgs : m.t = "1b" /\ m.bal = b /\ m.from \in q}
                          top == {m \in heard : \A o \in heard : m.last.bal >= o.last.bal}
                      IN /\ \A a \in q : \E m \in heard : m.from = a
                         /\ \A m \in top : m.last.bal = -1 \/ m.last.val = v
                 /\ Send([t |-> "2a", bal |-> b, val |-> v]) /\ UNCHANGED <<promised, voted>>
Vote(a) == \E m \in msgs : /\ m.t = "2a" /\ m.bal >= promised[a]
                           /\ promised' = [promised EXCEPT ![a] = m.bal]
                           /\ voted' = [voted EXCEPT ![a] = [bal |-> m.bal, val |-> m.val]]
                           /\ Send([t |-> "2b", bal |-> m.bal, val |-> m.val, from |-> a])
Next == \/ \E b \in Ballots : Ask(b) \/ \E v \in Values : Propose(b, v)
        \/ \E a \in Acceptors : Promise(a) \/ Vote(a)
Chosen(v) == \E b \in Ballots : \E q \in Quorums :
               \A a \in q : [t |-> "2b", bal |-> b, val |-> v, from |-> a] \in msgs
Agreed == \A v, w \in Values : Chosen(v) /\ Chosen(w) => v = w
====
