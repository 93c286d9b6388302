---- MODULE MissingAssignment ----
\* An action that forgets a variable.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == IF x < 3 THEN x' = x + 1 /\ UNCHANGED y ELSE x' = 0
====
