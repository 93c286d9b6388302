---- MODULE Stack ----
EXTENDS Naturals, Sequences
VARIABLE stack

Init == stack = <<>>
Push(elem) == elem \in Nat /\ stack' = <<elem>> \o stack
Pop(elem) == stack # <<>> /\ elem = Head(stack) /\ stack' = Tail(stack)
PopEmpty == stack = <<>> /\ UNCHANGED stack
Next == PopEmpty \/ \E elem \in Nat : Push(elem) \/ Pop(elem)
====
