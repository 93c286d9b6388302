---- MODULE BenchTiles ----
\* All positions of the eight-tile puzzle: integers in a function.
EXTENDS Integers
VARIABLES tile, gap
Init == tile = [c \in 0..8 |-> c] /\ gap = 0
Swap(c) == tile' = [tile EXCEPT ![gap] = tile[c], ![c] = 0] /\ gap' = c
Next == \/ gap % 3 > 0 /\ Swap(gap - 1)
        \/ gap % 3 < 2 /\ Swap(gap + 1)
        \/ gap > 2 /\ Swap(gap - 3)
        \/ gap < 6 /\ Swap(gap + 3)
Hole == tile[gap] = 0
====
