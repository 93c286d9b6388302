----------------------------- MODULE Registers -----------------------------
(***************************************************************************)
(* A key-value store as one of its clients would like to see it: each key  *)
(* is a register, and reading it gives what was put there last, wherever   *)
(* the copies are and whichever of them answers.                           *)
(***************************************************************************)

CONSTANTS
    Keys,           \* The keys that are used.
    Values,         \* What can be put under a key.
    Nil             \* What is found under a key before anything is put there.

VARIABLE store      \* What was put last under each key.

TypeOK == store \in [Keys -> Values \cup {Nil}]

Init == store = [key \in Keys |-> Nil]

-----------------------------------------------------------------------------

\* Replaces what stands under `key`.
Put(key, value) ==
    store' = [store EXCEPT ![key] = value]

\* Finds `value` under `key`.
Get(key, value) ==
    /\ value = store[key]
    /\ UNCHANGED store

Next ==
    \/ \E key \in Keys, value \in Values : Put(key, value)
    \/ \E key \in Keys, value \in Values \cup {Nil} : Get(key, value)

Spec == Init /\ [][Next]_store

=============================================================================
