------------------------------ MODULE SkipMap ------------------------------
(***************************************************************************)
(* A map in which a key has one value or none.  Every operation happens at *)
(* one instant, also the one that replaces a value: there is no instant at *)
(* which the old value is gone and the new one is not there yet.           *)
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

\* Stores `value` if there was none; `found` is what stands there afterwards.
GetOrInsert(key, value, found) ==
    IF map[key] = Nil
    THEN /\ found = value
         /\ map' = [map EXCEPT ![key] = value]
    ELSE /\ found = map[key]
         /\ UNCHANGED map

\* Says what stands under `key`.
Get(key, value) ==
    /\ value = map[key]
    /\ UNCHANGED map

\* Takes away what stands under `key`, and says what it was.
Remove(key, value) ==
    /\ value = map[key]
    /\ map' = [map EXCEPT ![key] = Nil]

Next ==
    \/ \E key \in Keys, value \in Values : Insert(key, value)
    \/ \E key \in Keys, value, found \in Values : GetOrInsert(key, value, found)
    \/ \E key \in Keys, value \in Values \cup {Nil} : Get(key, value)
    \/ \E key \in Keys, value \in Values \cup {Nil} : Remove(key, value)

Spec == Init /\ [][Next]_map

=============================================================================
