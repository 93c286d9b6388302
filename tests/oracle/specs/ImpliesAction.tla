---- MODULE ImpliesAction ----
\* P => A as an action: A if P holds, and anything that is said elsewhere if not.
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == /\ x' = (x + 1) % 4
        /\ (x = 2 => y' = 1)
        /\ (x # 2 => y' \in {0, y})
====
