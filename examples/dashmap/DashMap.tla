------------------------------ MODULE DashMap ------------------------------
(***************************************************************************)
(* A map in which a key has one value or none.  Whoever takes the value    *)
(* away learns whether there was one.                                      *)
(***************************************************************************)

CONSTANTS
    Keys,           \* The keys that are used.
    Values,         \* What can be stored under a key.
    Nil             \* What stands under a key that has no value.

VARIABLE map        \* What stands under each key.

TypeOK == map \in [Keys -> Values \cup {Nil}]

Init == map = [key \in Keys |-> Nil]

-----------------------------------------------------------------------------

\* Stores `value`, whether or not there was one before.
Insert(key, value) ==
    map' = [map EXCEPT ![key] = value]

\* Says what stands under `key`.
Get(key, value) ==
    /\ value = map[key]
    /\ UNCHANGED map

\* Takes away what stands under `key`, and says whether anything did.
Remove(key, was_there) ==
    /\ was_there = (map[key] # Nil)
    /\ map' = [map EXCEPT ![key] = Nil]

Next ==
    \/ \E key \in Keys, value \in Values : Insert(key, value)
    \/ \E key \in Keys, value \in Values \cup {Nil} : Get(key, value)
    \/ \E key \in Keys, was_there \in BOOLEAN : Remove(key, was_there)

Spec == Init /\ [][Next]_map

=============================================================================
