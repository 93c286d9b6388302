---- MODULE TwoPhase ----
\* Two-phase commit with a set of messages.
EXTENDS FiniteSets
CONSTANT RM
VARIABLES rm, tm, ready, msgs
Init == rm = [r \in RM |-> "working"] /\ tm = "open" /\ ready = {} /\ msgs = {}
Vote(r) == /\ rm[r] = "working" /\ rm' = [rm EXCEPT ![r] = "ready"]
           /\ msgs' = msgs \cup {[kind |-> "vote", from |-> r]} /\ UNCHANGED <<tm, ready>>
Quit(r) == rm[r] = "working" /\ rm' = [rm EXCEPT ![r] = "aborted"] /\ UNCHANGED <<tm, ready, msgs>>
Collect(r) == /\ tm = "open" /\ [kind |-> "vote", from |-> r] \in msgs
              /\ ready' = ready \cup {r} /\ UNCHANGED <<rm, tm, msgs>>
Decide(d) == /\ tm = "open" /\ (d = "commit" => ready = RM)
             /\ tm' = d /\ msgs' = msgs \cup {[kind |-> d]} /\ UNCHANGED <<rm, ready>>
Obey(r) == \/ [kind |-> "commit"] \in msgs /\ rm' = [rm EXCEPT ![r] = "committed"] /\ UNCHANGED <<tm, ready, msgs>>
           \/ [kind |-> "abort"] \in msgs /\ rm' = [rm EXCEPT ![r] = "aborted"] /\ UNCHANGED <<tm, ready, msgs>>
Next == (\E d \in {"commit", "abort"} : Decide(d)) \/ \E r \in RM : Vote(r) \/ Quit(r) \/ Collect(r) \/ Obey(r)
Agreed == ~\E a, b \in RM : rm[a] = "committed" /\ rm[b] = "aborted"
====
