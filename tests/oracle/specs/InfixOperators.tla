---- MODULE InfixOperators ----
\* Operators of our own in infix, prefix and postfix form.
EXTENDS Integers
VARIABLE x
a \prec b == a + 1 < b
a %% b == ((a % b) + b) % b
a ^+ == a + 1
a \odot b == IF a \prec b THEN a^+ ELSE b %% 4
Init == x = 3
Next == x' = x \odot 7 \/ x' = x ^+ %% 6 \/ x' = (x * x) %% 9
Ok == x \in 0..9
====
