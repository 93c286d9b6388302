-------------------------------- MODULE KFifo --------------------------------
(***************************************************************************)
(* A queue that is out of order by a bound.  Whoever takes an element gets *)
(* one of the K oldest, so it overtakes at most K - 1 others.  With K = 1  *)
(* it is a queue as one knows it.  That nothing is in it when it looks     *)
(* empty is our reading; the documentation does not say.                   *)
(*                                                                         *)
(* That is the k-FIFO queue of C. Kirsch, M. Lippautz and H. Payer, "Fast  *)
(* and Scalable, Lock-Free k-FIFO Queues" (PaCT 2013), and what the        *)
(* documentation of xenium::kirsch_kfifo_queue says of it: an element may  *)
(* come out of order up to k - 1.                                          *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    Elems,          \* What can be put into the queue.
    K               \* How many of the oldest elements there are to choose from.

VARIABLE queue      \* What is in the queue, oldest first.

TypeOK == queue \in Seq(Elems)

Init == queue = <<>>

\* What is left of the queue when the element at place i has left.
Without(i) == SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

-----------------------------------------------------------------------------

\* Puts `elem` behind everything that is there.
Enqueue(elem) ==
    queue' = Append(queue, elem)

\* Takes `elem`, which is one of the K oldest.
Dequeue(elem) ==
    \E i \in 1 .. Len(queue) :
        /\ queue[i] = elem
        /\ i <= K
        /\ queue' = Without(i)

\* Finds nothing to take.
DequeueEmpty ==
    /\ queue = <<>>
    /\ UNCHANGED queue

Next ==
    \/ \E elem \in Elems : Enqueue(elem) \/ Dequeue(elem)
    \/ DequeueEmpty

Spec == Init /\ [][Next]_queue

=============================================================================
