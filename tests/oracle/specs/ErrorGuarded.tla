---- MODULE ErrorGuarded ----
\* Errors behind a false guard, in an unused LET and in an unused argument are not met.
EXTENDS Naturals, Sequences
VARIABLE q
Unused(a, b) == a
Init == q = <<1, 2, 3>>
Next == \/ q # <<>> /\ Head(q) > 0 /\ q' = Tail(q)
        \/ q = <<>> /\ LET h == Head(q) IN q' = <<1>>
        \/ Len(q) = 2 /\ q' = Unused(<<3, 3, 3>>, q[7])
Ok == q = <<>> \/ q[1] > 0
====
