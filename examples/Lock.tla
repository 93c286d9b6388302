---- MODULE Lock ----
\* A lock that is looked at in one step and taken in the next.
CONSTANT Processes
VARIABLES isFree, at

Init == isFree = TRUE /\ at = [p \in Processes |-> "outside"]

Look(p) == /\ at[p] = "outside"
           /\ isFree
           /\ at' = [at EXCEPT ![p] = "taking"]
           /\ UNCHANGED isFree

Take(p) == /\ at[p] = "taking"
           /\ isFree' = FALSE
           /\ at' = [at EXCEPT ![p] = "inside"]

Leave(p) == /\ at[p] = "inside"
            /\ isFree' = TRUE
            /\ at' = [at EXCEPT ![p] = "outside"]

Next == \E p \in Processes : Look(p) \/ Take(p) \/ Leave(p)

OneInside == \A p, q \in Processes : at[p] = "inside" /\ at[q] = "inside" => p = q
====
