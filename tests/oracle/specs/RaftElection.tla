---- MODULE RaftElection ----
\* Terms, votes and leaders; requests are read from a set of messages that only grows.
EXTENDS Naturals, FiniteSets
CONSTANTS Servers, MaxTerm, Nobody
VARIABLES term, role, vote, votes, asked
vars == <<term, role, vote, votes, asked>>
Majority(s) == 2 * Cardinality(s) > Cardinality(Servers)
Init == /\ term = [s \in Servers |-> 0] /\ role = [s \in Servers |-> "follower"]
        /\ vote = [s \in Servers |-> Nobody] /\ votes = [s \in Servers |-> {}] /\ asked = {}
Timeout(s) == /\ role[s] # "leader" /\ term[s] < MaxTerm
              /\ term' = [term EXCEPT ![s] = @ + 1] /\ role' = [role EXCEPT ![s] = "candidate"]
              /\ vote' = [vote EXCEPT ![s] = s] /\ votes' = [votes EXCEPT ![s] = {s}]
              /\ asked' = asked \cup {[from |-> s, term |-> term[s] + 1]}
Grant(s) == \E m \in asked :
              /\ m.from # s
              /\ \/ m.term > term[s]
                 \/ m.term = term[s] /\ vote[s] \in {Nobody, m.from}
              /\ term' = [term EXCEPT ![s] = m.term]
              /\ vote' = [vote EXCEPT ![s] = m.from]
              /\ role' = [role EXCEPT ![s] = IF m.term > term[s] THEN "follower" ELSE @]
              /\ votes' = IF term[m.from] = m.term THEN [votes EXCEPT ![m.from] = @ \cup {s}] ELSE votes
              /\ UNCHANGED asked
Win(s) == role[s] = "candidate" /\ Majority(votes[s]) /\ role' = [role EXCEPT ![s] = "leader"] /\ UNCHANGED <<term, vote, votes, asked>>
Next == \E s \in Servers : Timeout(s) \/ Grant(s) \/ Win(s)
OneLeader == \A s, t \in Servers : role[s] = "leader" /\ role[t] = "leader" /\ term[s] = term[t] => s = t
====
