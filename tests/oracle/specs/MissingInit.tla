---- MODULE MissingInit ----
\* An initial predicate that forgets a variable.
VARIABLES x, y
Init == x = 0
Next == UNCHANGED <<x, y>>
====
