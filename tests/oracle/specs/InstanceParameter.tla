---- MODULE InstanceParameter ----
\* A named instance with a parameter; its variable is an expression, so only reading works.
EXTENDS Naturals
VARIABLE f
Plus(n) == n + 1
At(i) == INSTANCE Store WITH Bound <- i + 1, Step <- Plus, cell <- f[i]
Init == f = [i \in 1..3 |-> 0]
Next == \E i \in 1..3 : f' = [f EXCEPT ![i] = IF @ > i THEN 0 ELSE @ + 1]
AllOk == \A i \in 1..3 : At(i)!Ok
====
