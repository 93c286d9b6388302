-------------------------------- MODULE Stack -------------------------------
(***************************************************************************)
(* A stack whose author forgot that there may be nothing to take.          *)
(***************************************************************************)
EXTENDS Sequences

CONSTANT Elems      \* What can be put onto the stack.

VARIABLE stack      \* What is on the stack, newest first.

Init == stack = <<>>

Push(elem) == stack' = <<elem>> \o stack

Pop(elem) ==
    /\ elem = Head(stack)
    /\ stack' = Tail(stack)

Next == \E elem \in Elems : Push(elem) \/ Pop(elem)

Spec == Init /\ [][Next]_stack
=============================================================================
