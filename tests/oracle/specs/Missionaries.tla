---- MODULE Missionaries ----
\* Three and three cross with a boat for two.
EXTENDS Naturals, FiniteSets
VARIABLES left, boat
M == {"m1", "m2", "m3"}
C == {"c1", "c2", "c3"}
All == M \cup C
Calm(bank) == bank \cap M = {} \/ Cardinality(bank \cap C) <= Cardinality(bank \cap M)
Init == left = All /\ boat = "left"
Next == \E crew \in {s \in SUBSET (IF boat = "left" THEN left ELSE All \ left) : Cardinality(s) \in 1..2} :
          /\ left' = IF boat = "left" THEN left \ crew ELSE left \cup crew
          /\ Calm(left') /\ Calm(All \ left')
          /\ boat' = IF boat = "left" THEN "right" ELSE "left"
NotOver == left # {}
====
