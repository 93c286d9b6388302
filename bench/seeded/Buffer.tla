------------------------------- MODULE Buffer -------------------------------
(* A buffer with room for one: `Put` waits while it is full, `Take` while it is empty. *)
EXTENDS Integers, Sequences
VARIABLE buffer

Init == buffer = <<>>
Put(value) == buffer = <<>> /\ buffer' = <<value>>
Take(value) == buffer # <<>> /\ value = Head(buffer) /\ buffer' = <<>>
Next == \E value \in Int : Put(value) \/ Take(value)
=============================================================================
