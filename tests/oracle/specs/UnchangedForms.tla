---- MODULE UnchangedForms ----
\* UNCHANGED of a variable, a tuple, nested tuples, a definition, and after a change.
EXTENDS Naturals
VARIABLES a, b, c, d
pair == <<a, b>>
all == <<pair, <<c, d>>>>
Init == a = 0 /\ b = 0 /\ c = 0 /\ d = 0
One == a < 2 /\ a' = a + 1 /\ UNCHANGED b /\ UNCHANGED <<c, d>>
Two == b < 2 /\ b' = b + 1 /\ UNCHANGED <<a, <<c, d>>>>
Three == c < 2 /\ c' = c + 1 /\ UNCHANGED <<pair, d>>
Still == UNCHANGED all
After == d' = 1 - d /\ UNCHANGED <<a, b, c>> /\ UNCHANGED d
Empty == d = 0 /\ d' = 1 /\ UNCHANGED <<>> /\ UNCHANGED pair /\ UNCHANGED c
Next == One \/ Two \/ Three \/ Still \/ After \/ Empty
====
