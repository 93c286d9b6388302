---- MODULE Elevator ----
\* One car, calls on floors, doors; it turns only when no call is ahead.
EXTENDS Integers, FiniteSets
CONSTANT Top
VARIABLES floor, dir, door, calls
Floors == 1..Top
Ahead == {f \in calls : IF dir = 1 THEN f > floor ELSE f < floor}
Init == floor = 1 /\ dir = 1 /\ door = "shut" /\ calls = {}
Call == \E f \in Floors \ calls : (f # floor \/ door = "shut") /\ calls' = calls \cup {f} /\ UNCHANGED <<floor, dir, door>>
Open == door = "shut" /\ floor \in calls /\ door' = "open" /\ calls' = calls \ {floor} /\ UNCHANGED <<floor, dir>>
Shut == door = "open" /\ door' = "shut" /\ UNCHANGED <<floor, dir, calls>>
Go == door = "shut" /\ floor \notin calls /\ Ahead # {} /\ floor' = floor + dir /\ UNCHANGED <<dir, door, calls>>
Turn == door = "shut" /\ floor \notin calls /\ Ahead = {} /\ calls # {} /\ dir' = -dir /\ UNCHANGED <<floor, door, calls>>
Next == Call \/ Open \/ Shut \/ Go \/ Turn
Ok == floor \in Floors /\ dir \in {-1, 1} /\ (door = "open" => floor \notin calls)
====
