---- MODULE RecursiveOps ----
\* RECURSIVE operators and recursive functions in the next-state relation.
EXTENDS Naturals, Sequences
VARIABLE s
RECURSIVE Sum(_)
Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
RECURSIVE Even(_), Odd(_)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n - 1)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n - 1)
Fib[n \in Nat] == IF n < 2 THEN n ELSE Fib[n - 1] + Fib[n - 2]
Rev[q \in Seq(Nat)] == IF q = <<>> THEN <<>> ELSE Append(Rev[Tail(q)], Head(q))
RECURSIVE Spread(_, _)
Spread(n, q) == IF n = 0 THEN s' = q ELSE Spread(n - 1, Append(q, n)) \/ (Odd(n) /\ s' = <<n>>)
Init == s = <<>>
Next == \/ Len(s) < 4 /\ s' = Append(s, Fib[Len(s)])
        \/ Even(Sum(s)) /\ s' = Rev[s]
        \/ s = <<0, 1>> /\ Spread(3, <<>>)
Bounded == Sum(s) < 20
====
