---- MODULE Peterson ----
\* Two processes exclude each other with two flags and a turn.
VARIABLES flag, turn, at
Other(p) == IF p = "a" THEN "b" ELSE "a"
P == {"a", "b"}
Init == flag = [p \in P |-> FALSE] /\ turn \in P /\ at = [p \in P |-> "idle"]
Raise(p) == at[p] = "idle" /\ flag' = [flag EXCEPT ![p] = TRUE] /\ at' = [at EXCEPT ![p] = "yield"] /\ UNCHANGED turn
Yield(p) == at[p] = "yield" /\ turn' = Other(p) /\ at' = [at EXCEPT ![p] = "wait"] /\ UNCHANGED flag
Enter(p) == at[p] = "wait" /\ (~flag[Other(p)] \/ turn = p) /\ at' = [at EXCEPT ![p] = "in"] /\ UNCHANGED <<flag, turn>>
Leave(p) == at[p] = "in" /\ flag' = [flag EXCEPT ![p] = FALSE] /\ at' = [at EXCEPT ![p] = "idle"] /\ UNCHANGED turn
Next == \E p \in P : Raise(p) \/ Yield(p) \/ Enter(p) \/ Leave(p)
Exclusive == ~(at["a"] = "in" /\ at["b"] = "in")
====
