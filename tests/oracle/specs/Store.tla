---- MODULE Store ----
\* A part of the Instance specs: a cell with a bound.
EXTENDS Naturals
CONSTANTS Bound, Step(_)
VARIABLE cell
Init == cell = 0
Write == cell < Bound /\ cell' = Step(cell)
Clear == cell = Bound /\ cell' = 0
Next == Write \/ Clear
Ok == cell \in 0..Bound
LOCAL Hidden == cell
====
