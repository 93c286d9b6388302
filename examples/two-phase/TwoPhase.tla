------------------------------ MODULE TwoPhase ------------------------------
(***************************************************************************)
(* Two-phase commit.  For each transaction, every participant votes, the   *)
(* coordinator decides, and the participants learn what was decided.       *)
(*                                                                         *)
(* Nodes talk through messages.  A message that was sent stays in `msgs`,  *)
(* so it may arrive late, more than once, or never.  The coordinator       *)
(* counts votes when they arrive.  Nobody calls it to do so, and no log    *)
(* tells of it: `Count` is an internal action.                             *)
(***************************************************************************)
CONSTANTS
    Nodes,          \* All nodes.
    Coordinator,    \* The node that decides.  The others are participants.
    Transactions    \* The transactions to be decided.

Participants == Nodes \ {Coordinator}
Votes == {"yes", "no"}
Outcomes == {"commit", "abort"}

Messages ==
    [tx : Transactions, from : Participants, says : Votes]
        \cup [tx : Transactions, from : {Coordinator}, says : Outcomes]

VARIABLES
    phase,          \* phase[tx][node]: how far a participant is.
    counted,        \* The votes that the coordinator has counted.
    msgs            \* All messages that were ever sent.

vars == <<phase, counted, msgs>>

Init ==
    /\ phase = [tx \in Transactions |-> [node \in Participants |-> "working"]]
    /\ counted = {}
    /\ msgs = {}

\* Those whose `vote` on `tx` has been counted.
Voters(tx, vote) == {m.from : m \in {m \in counted : m.tx = tx /\ m.says = vote}}

IsDecided(tx) == \E m \in msgs : m.tx = tx /\ m.says \in Outcomes

-----------------------------------------------------------------------------

\* A participant promises to commit if told so, or refuses and is done.
Vote(node, tx, vote) ==
    /\ phase[tx][node] = "working"
    /\ phase' = [phase EXCEPT ![tx][node] = IF vote = "yes" THEN "prepared" ELSE "aborted"]
    /\ msgs' = msgs \cup {[tx |-> tx, from |-> node, says |-> vote]}
    /\ UNCHANGED counted

\* A vote arrives at the coordinator.
Count(m) ==
    /\ m.says \in Votes
    /\ m \notin counted
    /\ counted' = counted \cup {m}
    /\ UNCHANGED <<phase, msgs>>

\* The coordinator decides.  It commits only if it has a yes from every node; it may abort whenever it has not.
Decide(tx, outcome) ==
    /\ ~IsDecided(tx)
    /\ outcome = (IF Voters(tx, "yes") = Participants THEN "commit" ELSE "abort")
    /\ msgs' = msgs \cup {[tx |-> tx, from |-> Coordinator, says |-> outcome]}
    /\ UNCHANGED <<phase, counted>>

\* A participant gets the decision.  One that has made a promise waits for it, however long that takes.
Learn(node, tx, outcome) ==
    /\ [tx |-> tx, from |-> Coordinator, says |-> outcome] \in msgs
    /\ phase' = [phase EXCEPT ![tx][node] = IF outcome = "commit" THEN "committed" ELSE "aborted"]
    /\ UNCHANGED <<counted, msgs>>

Next ==
    \/ \E node \in Participants, tx \in Transactions, vote \in Votes : Vote(node, tx, vote)
    \/ \E node \in Participants, tx \in Transactions, outcome \in Outcomes : Learn(node, tx, outcome)
    \/ \E tx \in Transactions, outcome \in Outcomes : Decide(tx, outcome)
    \/ \E m \in msgs : Count(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ phase \in [Transactions -> [Participants -> {"working", "prepared", "committed", "aborted"}]]
    /\ msgs \subseteq Messages
    /\ counted \subseteq msgs

\* What one participant commits, no other one aborts.
Agreement ==
    \A tx \in Transactions : \A a, b \in Participants :
        ~(phase[tx][a] = "committed" /\ phase[tx][b] = "aborted")

\* Nothing is committed against a vote.
CommitNeedsEverybody ==
    \A m \in msgs : m.says = "commit" => Voters(m.tx, "yes") = Participants

=============================================================================
