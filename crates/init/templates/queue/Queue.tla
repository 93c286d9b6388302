------------------------------- MODULE Queue -------------------------------
(***************************************************************************)
(* A queue that many threads share: first in, first out.                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Elems      \* The elements of the queue.

VARIABLE queue      \* The queue, oldest element first.

TypeOK == queue \in Seq(Elems)

Init == queue = <<>>

-----------------------------------------------------------------------------

\* Appends `elem`.
Enqueue(elem) ==
    queue' = Append(queue, elem)

\* Takes the oldest element, which is `elem`.
Dequeue(elem) ==
    /\ queue # <<>>
    /\ elem = Head(queue)
    /\ queue' = Tail(queue)

\* Finds the queue empty.
DequeueEmpty ==
    /\ queue = <<>>
    /\ UNCHANGED queue

Next ==
    \/ \E elem \in Elems : Enqueue(elem)
    \/ \E elem \in Elems : Dequeue(elem)
    \/ DequeueEmpty

Spec == Init /\ [][Next]_queue

=============================================================================
