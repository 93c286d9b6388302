---- MODULE InvariantInitial ----
\* The second initial state is wrong.
EXTENDS Naturals
VARIABLE x
Init == x \in {2, 9}
Next == x' = x
Small == x < 5
====
