---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANT Elems
VARIABLE queue
Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) == queue # <<>> /\ elem = Head(queue) /\ queue' = Tail(queue)
Next == \E elem \in Elems : Enqueue(elem) \/ Dequeue(elem)
====
