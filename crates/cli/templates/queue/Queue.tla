------------------------------- MODULE Queue -------------------------------
(***************************************************************************)
(* A queue that many threads share.  What went in first comes out first.   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Elems      \* What can be put into the queue.

VARIABLE queue      \* What is in the queue, oldest first.

TypeOK == queue \in Seq(Elems)

Init == queue = <<>>

-----------------------------------------------------------------------------

\* Puts `elem` behind everything that is there.
Enqueue(elem) ==
    queue' = Append(queue, elem)

\* Takes the oldest element, which is `elem`.
Dequeue(elem) ==
    /\ queue # <<>>
    /\ elem = Head(queue)
    /\ queue' = Tail(queue)

\* Finds nothing to take.
DequeueEmpty ==
    /\ queue = <<>>
    /\ UNCHANGED queue

Next ==
    \/ \E elem \in Elems : Enqueue(elem)
    \/ \E elem \in Elems : Dequeue(elem)
    \/ DequeueEmpty

Spec == Init /\ [][Next]_queue

=============================================================================
