---------------------------- MODULE Serializable ----------------------------
(***************************************************************************)
(* Transactions that might as well have run one after another: each is one *)
(* step, which sees the whole store and writes one key.  It is more than   *)
(* isolation by snapshots promises.  There, two transactions may see the   *)
(* same store and each write another key, which is called write skew.      *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS
    Keys,           \* The keys of the store.
    Values          \* What can be written.

VARIABLE store      \* store[key]: what was written last, and 0 at first.

TypeOK == store \in [Keys -> Values \cup {0}]

Init == store = [key \in Keys |-> 0]

\* Sees all of the store, and writes `value` under `key`.
Transact(key, value, sees) ==
    /\ sees = store
    /\ store' = [store EXCEPT ![key] = value]

Next ==
    \E key \in Keys, value \in Values, sees \in [Keys -> Values \cup {0}] : Transact(key, value, sees)

Spec == Init /\ [][Next]_store

=============================================================================
