---- MODULE FunctionSets ----
\* Next values from sets of functions, sets of sets and products.
EXTENDS Naturals, FiniteSets
VARIABLES f, s, p
Init == f \in [{1, 2} -> BOOLEAN] /\ s = {} /\ p = <<0, 0>>
Next == \/ f' \in [{1, 2} -> BOOLEAN] /\ UNCHANGED <<s, p>>
        \/ s' \in SUBSET {i \in 1..2 : f[i]} /\ UNCHANGED <<f, p>>
        \/ p' \in {0, 1} \X s /\ UNCHANGED <<f, s>>
        \/ s' = UNION {s, {p[2]} \ {0}} /\ UNCHANGED <<f, p>>
Ok == Cardinality(s) <= 2 /\ p \in (0..1) \X (0..2)
====
