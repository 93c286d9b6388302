-------------------------------- MODULE Map --------------------------------
(***************************************************************************)
(* A map from keys to values that can also count the keys in a range.  The *)
(* count is taken at one instant: it never mixes an older map with a newer *)
(* one.                                                                    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Keys,           \* The keys that are used: integers, since ranges compare them.
    Values          \* What can be stored under a key.

VARIABLE dict       \* A function from the keys that are present to their values.

TypeOK ==
    /\ DOMAIN dict \subseteq Keys
    /\ \A key \in DOMAIN dict : dict[key] \in Values

Init == dict = <<>>

\* The map in which `key` has `value` and everything else is as it was.
With(key, value) ==
    [k \in DOMAIN dict \cup {key} |-> IF k = key THEN value ELSE dict[k]]

\* The map without `key`.
Without(key) ==
    [k \in DOMAIN dict \ {key} |-> dict[k]]

-----------------------------------------------------------------------------

\* Stores `value`, whether or not there was one before.
Put(key, value) ==
    dict' = With(key, value)

\* Stores `value` if there was none, and says whether it did.
Insert(key, value, ok) ==
    IF key \in DOMAIN dict
    THEN /\ ok = FALSE
         /\ UNCHANGED dict
    ELSE /\ ok = TRUE
         /\ dict' = With(key, value)

\* Removes `key`, and says whether it was there.
Erase(key, ok) ==
    IF key \in DOMAIN dict
    THEN /\ ok = TRUE
         /\ dict' = Without(key)
    ELSE /\ ok = FALSE
         /\ UNCHANGED dict

\* Says whether `key` is there.
Contains(key, ok) ==
    /\ ok = (key \in DOMAIN dict)
    /\ UNCHANGED dict

\* Says how many keys there are from `low` to `high`, both included.
Count(low, high, n) ==
    /\ n = Cardinality({k \in DOMAIN dict : low <= k /\ k <= high})
    /\ UNCHANGED dict

Next ==
    \/ \E key \in Keys, value \in Values : Put(key, value)
    \/ \E key \in Keys, value \in Values, ok \in BOOLEAN : Insert(key, value, ok)
    \/ \E key \in Keys, ok \in BOOLEAN : Erase(key, ok)
    \/ \E key \in Keys, ok \in BOOLEAN : Contains(key, ok)
    \/ \E low, high \in Keys, n \in 0 .. Cardinality(Keys) : Count(low, high, n)

Spec == Init /\ [][Next]_dict

=============================================================================
