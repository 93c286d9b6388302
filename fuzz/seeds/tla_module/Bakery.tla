---- MODULE Bakery ----
\* Tickets of three customers, bounded: a customer may not draw beyond Max.
EXTENDS Naturals
CONSTANTS N, Max
VARIABLES choosing, number, at, done
P == 1..N
Before(i, j) == number[i] < number[j] \/ (number[i] = number[j] /\ i < j)
Init == /\ choosing = [i \in P |-> FALSE] /\ number = [i \in P |-> 0]
        /\ at = [i \in P |-> "idle"] /\ done = [i \in P |-> {}]
Doorway(i) == /\ at[i] = "idle" /\ choosing' = [choosing EXCEPT ![i] = TRUE]
              /\ at' = [at EXCEPT ![i] = "draw"] /\ UNCHANGED <<number, done>>
Draw(i) == LET highest == CHOOSE n \in 0..Max : (\E j \in P : number[j] = n) /\ \A j \in P : number[j] <= n
           IN /\ at[i] = "draw" /\ highest < Max
              /\ number' = [number EXCEPT ![i] = highest + 1]
              /\ choosing' = [choosing EXCEPT ![i] = FALSE]
              /\ at' = [at EXCEPT ![i] = "wait"] /\ done' = [done EXCEPT ![i] = {i}]
Look(i) == /\ at[i] = "wait"
           /\ \E j \in P \ done[i] : /\ ~choosing[j]
                                     /\ number[j] = 0 \/ Before(i, j)
                                     /\ done' = [done EXCEPT ![i] = @ \cup {j}]
           /\ UNCHANGED <<choosing, number, at>>
Enter(i) == at[i] = "wait" /\ done[i] = P /\ at' = [at EXCEPT ![i] = "in"] /\ UNCHANGED <<choosing, number, done>>
Leave(i) == /\ at[i] = "in" /\ at' = [at EXCEPT ![i] = "idle"] /\ number' = [number EXCEPT ![i] = 0]
            /\ done' = [done EXCEPT ![i] = {}] /\ UNCHANGED choosing
Next == \E i \in P : Doorway(i) \/ Draw(i) \/ Look(i) \/ Enter(i) \/ Leave(i)
Exclusive == \A i, j \in P : i # j => ~(at[i] = "in" /\ at[j] = "in")
====
