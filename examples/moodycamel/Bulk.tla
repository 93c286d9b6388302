-------------------------------- MODULE Bulk --------------------------------
(***************************************************************************)
(* moodycamel::ConcurrentQueue in batches, as `Lanes` has it: each thread  *)
(* that puts elements in has a lane of its own, and the elements of a lane *)
(* come out in the order in which they went in.                            *)
(*                                                                         *)
(* Here the harness is generated, so whatever can be asked for is an       *)
(* argument: how many elements go in, and how many may come out at most.   *)
(* Both may be none.  A batch goes into its lane at once, but comes out    *)
(* element by element, since it may be taken from several lanes; `Atomic`  *)
(* is the same without that.                                               *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    Threads,        \* Who puts elements in and takes them out, one batch at a time.
    Firsts,         \* What elements are numbered by: no two batches have the same.
    Hauls,          \* What may come out at once: sequences of elements, perhaps empty.
    Most            \* The most elements that go in or come out at once.

ASSUME Most \in 0 .. 15

VARIABLES
    lane,           \* lane[t]: the elements that thread t has put in and no thread has taken, oldest first.
    taken           \* taken[t]: what thread t has taken for its present batch.

vars == <<lane, taken>>

Init ==
    /\ lane = [t \in Threads |-> <<>>]
    /\ taken = [t \in Threads |-> <<>>]

\* The elements of the batch that is numbered by `first`.
Batch(first, count) == [i \in 1 .. count |-> 16 * first + i]

\* Stands for whatever a call takes that never returns.  No element is 0.
Unknown == <<0>>

\* The most that a call takes.
Size(max, batch) == IF batch = Unknown THEN max ELSE Len(batch)

-----------------------------------------------------------------------------

\* Puts `count` elements into the lane of the thread.
Enqueue(thread, first, count) ==
    /\ lane' = [lane EXCEPT ![thread] = @ \o Batch(first, count)]
    /\ UNCHANGED taken

\* One more element of `batch` comes out: the oldest one of some lane.
Dequeue_Step(thread, max, batch) ==
    /\ Len(taken[thread]) < Size(max, batch)
    /\ Size(max, batch) <= max
    /\ \E t \in Threads :
           /\ lane[t] # <<>>
           /\ IF batch = Unknown THEN TRUE ELSE Head(lane[t]) = batch[Len(taken[thread]) + 1]
           /\ lane' = [lane EXCEPT ![t] = Tail(@)]
           /\ taken' = [taken EXCEPT ![thread] = Append(@, Head(lane[t]))]

\* The call returns with what it has, perhaps nothing.  It may give up while there is more to take: lanes are looked at
\* one after another, and one that was empty when it was looked at may be filled by now.
Dequeue_Done(thread, max, batch) ==
    /\ Len(batch) <= max
    /\ taken[thread] = batch
    /\ taken' = [taken EXCEPT ![thread] = <<>>]
    /\ UNCHANGED lane

Next ==
    \E thread \in Threads :
        \/ \E first \in Firsts, count \in 0 .. Most : Enqueue(thread, first, count)
        \/ \E max \in 0 .. Most, batch \in Hauls \cup {Unknown} :
               Dequeue_Step(thread, max, batch) \/ Dequeue_Done(thread, max, batch)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ lane \in [Threads -> Seq(Nat)]
    /\ taken \in [Threads -> Seq(Nat)]

\* Enough to see everything that can happen.
SmallHauls == {<<>>, <<1>>, <<2>>, <<1, 2>>, <<17>>, <<1, 17>>}

=============================================================================
