---- MODULE Composed ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Add(n) == \E k \in {n, n + 1} : x' = x + k
Next == /\ x = 0
        /\ y' = y + 1
        /\ LET before == x IN Add(1) \cdot (before > 0 /\ Add(10)) \cdot Add(100)
        /\ x' # 113
Other == /\ x = 0
         /\ \E k \in {1, 2} : ((x' = x + k) \cdot (x' = x + k)) /\ k = 1
         /\ UNCHANGED y
Sum == [][(\E k \in 1..3 : x' = x + k) \cdot (\E k \in 100..200 : x' = x + k)]_x
Few == [][(\E k \in 1..3 : x' = x + k) \cdot (x' = x + 110)]_x
Can == [](x = 0 => ENABLED ((x' = x + 1) \cdot (x = 1 /\ x' = 5)))
====
