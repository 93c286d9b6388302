---- MODULE HigherOrder ----
\* Operators that take operators, LAMBDA, and infix operators as arguments.
EXTENDS Integers, Sequences
VARIABLE v
Apply(f(_), x) == f(x)
Fold(op(_, _), a, b, c) == op(op(a, b), c)
Lift(A(_), S) == \E i \in S : A(i)
a (+) b == (a + b) % 7
Init == v = 1
Put(n) == v' = n % 9
Next == \/ Lift(Put, {v + 1, v * 2})
        \/ Lift(LAMBDA n : v' = Fold(LAMBDA p, q : p (+) q, n, v, 3), {0, 4})
        \/ v' = Fold((+), v, v, 1)
        \/ Apply(LAMBDA n : n > 6 /\ v' = n - 6, v)
        \/ v' = Fold( - , v, 0, v)
Ok == v \in 0..8
====
