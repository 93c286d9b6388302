---- MODULE CfgUnused ----
\* The configuration gives values to names that no module declares, and names strings and numbers.
EXTENDS Integers
CONSTANTS Word, Low, Flag, Nest
VARIABLE x
Init == x = Low
Next == x' = IF x = 2 THEN Low ELSE x + 1
Ok == Word = "word" /\ Flag /\ {1, 2} \in Nest /\ x >= 1
====
