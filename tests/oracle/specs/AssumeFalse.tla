---- MODULE AssumeFalse ----
\* The second assumption does not hold.
EXTENDS Naturals
CONSTANT N
VARIABLE x
ASSUME N > 0
ASSUME Even == N % 2 = 0
Init == x = 0
Next == x' = x
====
