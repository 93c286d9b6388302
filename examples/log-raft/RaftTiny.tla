------------------------------ MODULE RaftTiny ------------------------------
(***************************************************************************)
(* Bounds on Raft.tla, so that `omnilink spec check RaftTiny.tla` visits   *)
(* every state.                                                            *)
(***************************************************************************)
EXTENDS Raft, TLC

CONSTANTS
    MaxTerm,        \* The last term.
    MaxLog,         \* The length of the longest log.
    MaxMessages     \* Messages on their way at the same time.

Symmetry == Permutations(Server)

Bounded ==
    /\ \A i \in Server : currentTerm[i] <= MaxTerm /\ Len(log[i]) <= MaxLog
    /\ Cardinality(DOMAIN messages) <= MaxMessages
    /\ \A m \in DOMAIN messages : messages[m] = 1

=============================================================================
