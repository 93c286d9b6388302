--------------------------- MODULE ProducerQueue ---------------------------
(***************************************************************************)
(* A queue that keeps the order of each producer, and no order between     *)
(* producers.  That is what queues promise that give every producer a lane *)
(* of its own in order to be fast.                                         *)
(*                                                                         *)
(* Elements go in and come out in batches, and a batch is not atomic: its  *)
(* elements go in one by one, and others may look in between.  So each of  *)
(* the two operations is many steps, and what it has done so far is part   *)
(* of the state.                                                           *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    Producers,      \* Who puts elements in.  A producer puts one batch at a time.
    Consumers,      \* Who takes elements out.  A consumer takes one batch at a time.
    Batches         \* The batches that are put in: sequences of elements.

VARIABLES
    lane,           \* lane[p]: the elements of producer p that are in the queue, oldest first.
    put,            \* put[p]: what producer p has put in of its present batch.
    taken           \* taken[c]: what consumer c has taken out for its present batch.

vars == <<lane, put, taken>>

Elems == UNION {{batch[i] : i \in 1 .. Len(batch)} : batch \in Batches}

\* The length of the longest batch.
Longest == CHOOSE n \in {Len(batch) : batch \in Batches} : \A batch \in Batches : Len(batch) <= n

\* What a consumer may come back with: no more than the longest batch, perhaps nothing.
Hauls == UNION {[1 .. n -> Elems] : n \in 0 .. Longest}

Init ==
    /\ lane = [p \in Producers |-> <<>>]
    /\ put = [p \in Producers |-> <<>>]
    /\ taken = [c \in Consumers |-> <<>>]

\* Both batches begin in the same way, and `batch` goes on.
Continues(batch, begun) ==
    /\ Len(begun) < Len(batch)
    /\ SubSeq(batch, 1, Len(begun)) = begun

-----------------------------------------------------------------------------

\* One more element of `batch` goes into the lane of its producer.
EnqueueBatch_Step(producer, batch) ==
    /\ Continues(batch, put[producer])
    /\ LET elem == batch[Len(put[producer]) + 1] IN
       /\ lane' = [lane EXCEPT ![producer] = Append(@, elem)]
       /\ put' = [put EXCEPT ![producer] = Append(@, elem)]
    /\ UNCHANGED taken

\* All of `batch` is in, and the call returns.
EnqueueBatch_Done(producer, batch) ==
    /\ put[producer] = batch
    /\ put' = [put EXCEPT ![producer] = <<>>]
    /\ UNCHANGED <<lane, taken>>

\* One more element of `batch` comes out: the oldest one of some producer.
DequeueBatch_Step(consumer, batch) ==
    /\ Continues(batch, taken[consumer])
    /\ LET elem == batch[Len(taken[consumer]) + 1] IN
       /\ \E p \in Producers :
              /\ lane[p] # <<>>
              /\ Head(lane[p]) = elem
              /\ lane' = [lane EXCEPT ![p] = Tail(@)]
       /\ taken' = [taken EXCEPT ![consumer] = Append(@, elem)]
    /\ UNCHANGED put

\* The consumer returns with what it has.  It may give up while there is more to take.
DequeueBatch_Done(consumer, batch) ==
    /\ taken[consumer] = batch
    /\ taken' = [taken EXCEPT ![consumer] = <<>>]
    /\ UNCHANGED <<lane, put>>

Next ==
    \/ \E producer \in Producers, batch \in Batches :
           \/ EnqueueBatch_Step(producer, batch)
           \/ EnqueueBatch_Done(producer, batch)
    \/ \E consumer \in Consumers, batch \in Hauls :
           \/ DequeueBatch_Step(consumer, batch)
           \/ DequeueBatch_Done(consumer, batch)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ lane \in [Producers -> Seq(Elems)]
    /\ put \in [Producers -> Seq(Elems)]
    /\ taken \in [Consumers -> Hauls]

\* Whatever is partway is the beginning of a batch.
PartwayIsBeginning ==
    \A p \in Producers : \E batch \in Batches : put[p] = batch \/ Continues(batch, put[p])

\* The queue has no bound, and there are many batches.  A model checker needs less.
Short == \A p \in Producers : Len(lane[p]) <= 4
SmallBatches == {<<1>>, <<1, 2>>}

=============================================================================
