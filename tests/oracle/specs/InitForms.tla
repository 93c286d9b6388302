---- MODULE InitForms ----
\* Initial predicates with disjunction, quantifiers, IF, subsets and functions.
EXTENDS Naturals, FiniteSets
VARIABLES a, b, c, f
Init == /\ a \in 0..2
        /\ \/ b = a /\ c = "same"
           \/ \E d \in {1, 2} : b = a + d /\ c \in {"more", "other"}
        /\ f \in [1..2 -> {a, b}]
        /\ IF a = 0 THEN b < 2 ELSE b # 3
        /\ \A i \in 1..2 : f[i] <= b
        /\ (a = 2 => c # "other")
Next == UNCHANGED <<a, b, c, f>>
====
