-------------------------------- MODULE Fifo --------------------------------
(***************************************************************************)
(* One queue for all producers: what went in first comes out first,        *)
(* whoever put it in.  It is more than moodycamel::ConcurrentQueue         *)
(* promises; `Lanes` says what it does promise.                            *)
(***************************************************************************)
EXTENDS Sequences

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
    \/ \E elem \in Elems : Enqueue(elem) \/ Dequeue(elem)
    \/ DequeueEmpty

Spec == Init /\ [][Next]_queue

=============================================================================
