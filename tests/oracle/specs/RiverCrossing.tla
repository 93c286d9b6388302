---- MODULE RiverCrossing ----
\* The farmer, the wolf, the goat and the cabbage; getting across breaks the invariant.
VARIABLE here
All == {"farmer", "wolf", "goat", "cabbage"}
Safe(bank) == "farmer" \in bank \/ ~({"wolf", "goat"} \subseteq bank \/ {"goat", "cabbage"} \subseteq bank)
Init == here = All
Cross(x) == LET boat == {"farmer", x}
                next == IF boat \subseteq here THEN here \ boat ELSE here \cup boat
            IN (boat \subseteq here \/ boat \cap here = {}) /\ Safe(next) /\ Safe(All \ next) /\ here' = next
Next == \E x \in All : Cross(x)
NotOver == here # {}
====
