------------------------------ MODULE Replicas ------------------------------
(***************************************************************************)
(* The replicas of a register, and the stamps that clients choose.         *)
(*                                                                         *)
(* A replica stores a value only if it is newer than its own, and does not *)
(* lose it at a crash.  So a majority that has stored a stamp has it, or   *)
(* newer ones, for ever, and each later majority meets it.                 *)
(*                                                                         *)
(* Messages are no part of it: a stamp that was chosen may arrive at any   *)
(* time, also late or never.                                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANT Replica        \* The replicas.

VARIABLES
    stored,             \* stored[r]: the newest value of the replica r, with its stamp.
    chosen              \* The values that clients have chosen to write, with their stamps.

vars == <<stored, chosen>>

Nothing == [round |-> 0, client |-> 0, value |-> 0]

IsNewer(one, other) ==
    \/ one.round > other.round
    \/ one.round = other.round /\ one.client > other.client

IsMajority(replicas) == 2 * Cardinality(replicas) > Cardinality(Replica)

Init ==
    /\ stored = [r \in Replica |-> Nothing]
    /\ chosen = {}

-----------------------------------------------------------------------------

\* A client chooses a stamp for a value.  No other write has the stamp.
Choose(stamp) ==
    /\ \A other \in chosen : IsNewer(stamp, other) \/ IsNewer(other, stamp)
    /\ chosen' = chosen \cup {stamp}
    /\ UNCHANGED stored

\* A replica stores a value that is newer than its own.
Store(r, stamp) ==
    /\ stamp \in chosen
    /\ IsNewer(stamp, stored[r])
    /\ stored' = [stored EXCEPT ![r] = stamp]
    /\ UNCHANGED chosen

\* A replica begins, or begins again after a crash, with the value of its disk.
Restart(r) == UNCHANGED vars

\* A client is done with a value: a majority has stored it, or newer ones.
Done(stamp) ==
    /\ IsMajority({r \in Replica : ~IsNewer(stamp, stored[r])})
    /\ UNCHANGED vars

Stamp == [round : Nat, client : Nat, value : Nat]

Next ==
    \/ \E r \in Replica : Restart(r)
    \/ \E stamp \in Stamp : Choose(stamp) \/ Done(stamp) \/ \E r \in Replica : Store(r, stamp)

Spec == Init /\ [][Next]_vars

=============================================================================
