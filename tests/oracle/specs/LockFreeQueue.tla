---- MODULE LockFreeQueue ----
\* A queue as an array with reserved slots: a slot is taken first and filled later.
EXTENDS Naturals, Sequences
CONSTANTS Threads, Slots
VARIABLES tail, slot, at, mine, out
Init == /\ tail = 1 /\ slot = [i \in 1..Slots |-> 0] /\ out = <<>>
        /\ at = [t \in Threads |-> "idle"] /\ mine = [t \in Threads |-> 0]
Reserve(t) == /\ at[t] = "idle" /\ tail <= Slots /\ mine' = [mine EXCEPT ![t] = tail] /\ tail' = tail + 1
              /\ at' = [at EXCEPT ![t] = "fill"] /\ UNCHANGED <<slot, out>>
Fill(t) == /\ at[t] = "fill" /\ slot' = [slot EXCEPT ![mine[t]] = t] /\ at' = [at EXCEPT ![t] = "idle"]
           /\ UNCHANGED <<tail, mine, out>>
Holds(i) == slot[i] # 0 /\ \A j \in 1..(i - 1) : slot[j] = 0
Scan(t) == /\ at[t] = "idle"
           /\ \E i \in 1..Slots : Holds(i) /\ out' = Append(out, i) /\ slot' = [slot EXCEPT ![i] = 0]
           /\ UNCHANGED <<tail, at, mine>>
Next == \E t \in Threads : Reserve(t) \/ Fill(t) \/ Scan(t)
Ordered == \A i \in 1..(Len(out) - 1) : out[i] < out[i + 1]
====
