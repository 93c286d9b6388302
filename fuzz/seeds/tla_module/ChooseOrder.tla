---- MODULE ChooseOrder ----
\* CHOOSE takes the first element in TLC's order: numbers, tuples, sets, functions.
EXTENDS Naturals, FiniteSets
VARIABLES s, t, u
Init == s = {5, 2, 9} /\ t = {<<2>>, <<1, 1>>, <<1>>} /\ u = SUBSET {1, 2, 3}
First(S) == CHOOSE e \in S : TRUE
Next == \/ s # {} /\ s' = s \ {First(s)} /\ UNCHANGED <<t, u>>
        \/ t # {} /\ t' = t \ {First(t)} /\ UNCHANGED <<s, u>>
        \/ u # {} /\ u' = u \ {First(u)} /\ UNCHANGED <<s, t>>
        \/ s = {} /\ t = {} /\ u = {} /\ s' = {First([1..2 -> {4, 3}])[1]} /\ UNCHANGED <<t, u>>
====
