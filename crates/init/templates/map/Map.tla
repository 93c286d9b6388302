-------------------------------- MODULE Map --------------------------------
(***************************************************************************)
(* A map from keys to values that many threads share.                      *)
(***************************************************************************)
CONSTANTS
    Keys,           \* The keys in use.
    Values          \* The values that can be stored under a key.

VARIABLE map        \* A function from the present keys to their values.

TypeOK ==
    /\ DOMAIN map \subseteq Keys
    /\ \A key \in DOMAIN map : map[key] \in Values

Init == map = <<>>

-----------------------------------------------------------------------------

\* Stores `value` under `key`, whether or not there was one before.
Put(key, value) ==
    map' = [k \in DOMAIN map \cup {key} |-> IF k = key THEN value ELSE map[k]]

\* Finds `value` under `key`.
Get(key, value) ==
    /\ key \in DOMAIN map
    /\ value = map[key]
    /\ UNCHANGED map

\* Finds nothing under `key`.
GetMissing(key) ==
    /\ key \notin DOMAIN map
    /\ UNCHANGED map

\* Removes the value under `key`, and returns whether there was one.
Remove(key, found) ==
    /\ found = (key \in DOMAIN map)
    /\ map' = [k \in DOMAIN map \ {key} |-> map[k]]

Next ==
    \/ \E key \in Keys, value \in Values : Put(key, value)
    \/ \E key \in Keys, value \in Values : Get(key, value)
    \/ \E key \in Keys : GetMissing(key)
    \/ \E key \in Keys, found \in BOOLEAN : Remove(key, found)

Spec == Init /\ [][Next]_map

=============================================================================
