---- MODULE Jugs ----
\* Measuring with jugs of given sizes: a goal is reached when the invariant breaks.
EXTENDS Naturals
CONSTANTS Jug, Size, Goal
VARIABLE level
Smaller(a, b) == IF a < b THEN a ELSE b
Init == level = [j \in Jug |-> 0]
Fill(j) == level' = [level EXCEPT ![j] = Size[j]]
Spill(j) == level' = [level EXCEPT ![j] = 0]
Pour(j, k) == LET amount == Smaller(level[j], Size[k] - level[k])
              IN level' = [level EXCEPT ![j] = @ - amount, ![k] = @ + amount]
Next == \E j \in Jug : Fill(j) \/ Spill(j) \/ \E k \in Jug \ {j} : Pour(j, k)
NotReached == \A j \in Jug : level[j] # Goal
MCSize == [j \in Jug |-> CASE j = "s" -> 5 [] j = "m" -> 8 [] j = "l" -> 12]
====
