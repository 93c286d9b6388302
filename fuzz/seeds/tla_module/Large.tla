---- MODULE Large ----
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANT N
VARIABLES x, s
RECURSIVE Grow(_)
Grow(q) == IF Len(q) > 100000 THEN q ELSE Grow(Append(q, Len(q)))
f[n \in Nat] == IF n = 0 THEN 0 ELSE 1 + f[n - 1]
ASSUME Cardinality(SUBSET (1..100)) > 0
ASSUME \A t \in SUBSET (1..30) : Cardinality(t) < 31
ASSUME (CHOOSE g \in [1..100 -> 1..100] : g[100] = 100) # <<>>
ASSUME {t \in SUBSET (1..40) : 1 \in t} # {}
ASSUME f[30000] = 3
ASSUME 3 ^ 100000 > 0
ASSUME Len(Grow(<<>>)) = 3
ASSUME [i \in 1..2000000000 |-> i] # <<>>
ASSUME Permutations(1..20) # {}
ASSUME \E a, b, c, d, e \in 1..100 : a + b + c + d + e = 0
Init == x \in SUBSET (1..30) /\ s = <<>>
Next == \/ s' = Append(s, N) /\ UNCHANGED x
        \/ x' \in {t \in SUBSET (1..30) : t \subseteq x} /\ s' = s
====
