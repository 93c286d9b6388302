------------------------------- MODULE Atomic -------------------------------
(***************************************************************************)
(* What moodycamel::ConcurrentQueue does not promise: that a batch comes   *)
(* out at one instant.  It is `Bulk` in all else.                          *)
(*                                                                         *)
(* The queue takes a batch from its lanes one after the other.  Of two     *)
(* threads that do so at the same time, the first may come first in one    *)
(* lane and second in another; then neither batch was taken before the     *)
(* other, and nothing is wrong with the queue.                             *)
(***************************************************************************)
EXTENDS FiniteSets, Naturals, Sequences

CONSTANTS
    Threads,        \* Who puts elements in and takes them out, one batch at a time.
    Firsts,         \* What elements are numbered by: no two batches have the same.
    Hauls,          \* What may come out at once: sequences of elements, perhaps empty.
    Most            \* The most elements that go in or come out at once.

ASSUME Most \in 0 .. 15

VARIABLE lane       \* lane[t]: the elements that thread t has put in and no thread has taken, oldest first.

Init == lane = [t \in Threads |-> <<>>]

\* The elements of the batch that is numbered by `first`.
Batch(first, count) == [i \in 1 .. count |-> 16 * first + i]

\* What can be left when `batch` has been taken, each element being the oldest one of some lane.
RECURSIVE Left(_, _)
Left(lanes, batch) ==
    IF batch = <<>>
    THEN {lanes}
    ELSE LET Holders == {t \in Threads : lanes[t] # <<>> /\ Head(lanes[t]) = Head(batch)}
         IN UNION {Left([lanes EXCEPT ![t] = Tail(@)], Tail(batch)) : t \in Holders}

\* What can be left when at most `max` elements have been taken.
AnyLeft(max) ==
    LET Taken(from) == UNION {{t} \X (1 .. from[t]) : t \in Threads}
        Counts == {from \in [Threads -> 0 .. max] : Cardinality(Taken(from)) <= max}
    IN {[t \in Threads |-> SubSeq(lane[t], from[t] + 1, Len(lane[t]))] : from \in Counts}

\* Stands for whatever a call takes that never returns.  No element is 0.
Unknown == <<0>>

-----------------------------------------------------------------------------

\* Puts `count` elements into the lane of the thread.
Enqueue(thread, first, count) ==
    lane' = [lane EXCEPT ![thread] = @ \o Batch(first, count)]

\* Takes all of `batch` out, perhaps nothing.
Dequeue(max, batch) ==
    IF batch = Unknown
    THEN lane' \in AnyLeft(max)
    ELSE /\ Len(batch) <= max
         /\ lane' \in Left(lane, batch)

Next ==
    \/ \E thread \in Threads, first \in Firsts, count \in 0 .. Most : Enqueue(thread, first, count)
    \/ \E max \in 0 .. Most, batch \in Hauls \cup {Unknown} : Dequeue(max, batch)

Spec == Init /\ [][Next]_lane

-----------------------------------------------------------------------------

TypeOK == lane \in [Threads -> Seq(Nat)]

\* Enough to see everything that can happen.
SmallHauls == {<<>>, <<1>>, <<2>>, <<1, 2>>, <<17>>, <<1, 17>>}

=============================================================================
