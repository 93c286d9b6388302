------------------------------- MODULE Lanes -------------------------------
(***************************************************************************)
(* What moodycamel::ConcurrentQueue promises: each thread that puts        *)
(* elements in has a lane of its own, and the elements of a lane come out  *)
(* in the order in which they went in.  Nothing is promised between lanes. *)
(* Its documentation says so where it gives reasons not to use the queue:  *)
(* https://github.com/cameron314/concurrentqueue#reasons-not-to-use.       *)
(*                                                                         *)
(* Elements go in and come out in batches, and a batch is not atomic: its  *)
(* elements move one by one, and one batch that comes out may be taken     *)
(* from several lanes.  So each of the two operations is many steps, and   *)
(* how far it has come is part of the state.                               *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    Threads,        \* Who puts elements in and takes them out, one batch at a time.
    Batches,        \* The batches that are put in: sequences of elements.
    Hauls           \* What may come out at once: sequences of elements, perhaps empty.

VARIABLES
    lane,           \* lane[t]: the elements that thread t has put in and no thread has taken, oldest first.
    moved           \* moved[t]: what thread t has moved of its present batch, in or out.

vars == <<lane, moved>>

Elems == UNION {{batch[i] : i \in 1 .. Len(batch)} : batch \in Batches}

Init ==
    /\ lane = [t \in Threads |-> <<>>]
    /\ moved = [t \in Threads |-> <<>>]

\* The first of `batch` are in `begun`, and there are more.
Continues(batch, begun) ==
    /\ Len(begun) < Len(batch)
    /\ SubSeq(batch, 1, Len(begun)) = begun

\* The element that `thread` moves next.
Following(batch, thread) == batch[Len(moved[thread]) + 1]

-----------------------------------------------------------------------------

\* One more element goes into the lane of the thread.
EnqueueBatch_Step(thread, batch) ==
    /\ Continues(batch, moved[thread])
    /\ lane' = [lane EXCEPT ![thread] = Append(@, Following(batch, thread))]
    /\ moved' = [moved EXCEPT ![thread] = Append(@, Following(batch, thread))]

\* All of the batch is in, and the call returns.
EnqueueBatch_Done(thread, batch) ==
    /\ moved[thread] = batch
    /\ moved' = [moved EXCEPT ![thread] = <<>>]
    /\ UNCHANGED lane

\* One more element comes out: the oldest one of some lane.
DequeueBatch_Step(thread, batch) ==
    /\ Continues(batch, moved[thread])
    /\ \E t \in Threads :
           /\ lane[t] # <<>>
           /\ Head(lane[t]) = Following(batch, thread)
           /\ lane' = [lane EXCEPT ![t] = Tail(@)]
    /\ moved' = [moved EXCEPT ![thread] = Append(@, Following(batch, thread))]

\* The call returns with what it has, perhaps nothing.  It may give up while there is more to take: lanes are looked at
\* one after another, and one that was empty when it was looked at may be filled by now.
DequeueBatch_Done(thread, batch) ==
    /\ moved[thread] = batch
    /\ moved' = [moved EXCEPT ![thread] = <<>>]
    /\ UNCHANGED lane

Next ==
    \E thread \in Threads :
        \/ \E batch \in Batches : EnqueueBatch_Step(thread, batch) \/ EnqueueBatch_Done(thread, batch)
        \/ \E batch \in Hauls : DequeueBatch_Step(thread, batch) \/ DequeueBatch_Done(thread, batch)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ lane \in [Threads -> Seq(Elems)]
    /\ moved \in [Threads -> Seq(Elems)]

\* Enough to see everything that can happen.
SmallBatches == {<<1>>, <<1, 2>>}
SmallHauls == {<<>>, <<1>>, <<2>>, <<1, 2>>}

=============================================================================
