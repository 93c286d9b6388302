---- MODULE ErrorChoose ----
\* CHOOSE runs out of elements.
EXTENDS Naturals
VARIABLE s
Init == s = {1, 2, 3}
Next == s' = s \ {CHOOSE e \in s : TRUE}
====
