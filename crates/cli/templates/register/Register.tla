------------------------------ MODULE Register ------------------------------
(***************************************************************************)
(* One value that many threads read, write, and compare and set.           *)
(***************************************************************************)
EXTENDS Integers

CONSTANT Values     \* What can be written.

VARIABLE register   \* What was written last, and 0 before that.

TypeOK == register \in Values \cup {0}

Init == register = 0

-----------------------------------------------------------------------------

\* Says what the register holds.
Read(value) ==
    /\ value = register
    /\ UNCHANGED register

\* Writes `value`, whatever there was.
Write(value) ==
    register' = value

\* Writes `new` if the register holds `old`, and says whether it did.
CompareAndSet(old, new, ok) ==
    IF register = old
    THEN /\ ok = TRUE
         /\ register' = new
    ELSE /\ ok = FALSE
         /\ UNCHANGED register

Next ==
    \/ \E value \in Values \cup {0} : Read(value)
    \/ \E value \in Values : Write(value)
    \/ \E old, new \in Values, ok \in BOOLEAN : CompareAndSet(old, new, ok)

Spec == Init /\ [][Next]_register

=============================================================================
