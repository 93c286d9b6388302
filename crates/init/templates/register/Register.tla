------------------------------ MODULE Register ------------------------------
(***************************************************************************)
(* One value that many threads read, write, and compare and set.           *)
(***************************************************************************)
EXTENDS Integers

CONSTANT Values     \* The values that can be written.

VARIABLE register   \* The last value written, and 0 before that.

TypeOK == register \in Values \cup {0}

Init == register = 0

-----------------------------------------------------------------------------

\* Returns the value of the register.
Read(value) ==
    /\ value = register
    /\ UNCHANGED register

\* Writes `value`.
Write(value) ==
    register' = value

\* Writes `new` if the register holds `old`, and returns whether it did.
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
