-------------------------------- MODULE Cell --------------------------------
(***************************************************************************)
(* A cell that is written twice in one step.  Both must agree: the second  *)
(* conjunct of `Write` that speaks of `cell'` is a condition.              *)
(***************************************************************************)
EXTENDS Naturals

VARIABLES
    cell,       \* What the cell holds.
    copy        \* A copy of it, which is never more than 9.

Init == cell = 0 /\ copy = 0

\* Writes `value`, and what the copy can hold of it.
Write(value, kept) ==
    /\ cell' = value
    /\ copy' = (IF value > 9 THEN 9 ELSE value)
    /\ copy' = kept

\* Looks into the cell.
Read(value) ==
    /\ value = cell
    /\ UNCHANGED <<cell, copy>>

Next == \E value \in Nat : Read(value) \/ \E kept \in Nat : Write(value, kept)

Spec == Init /\ [][Next]_<<cell, copy>>
=============================================================================
