Anything may stand before the module, even (* or "quotes.
---- MODULE units ----
EXTENDS Naturals, Sequences
CONSTANTS N, F(_, _), _ \prec _, -. _
CONSTANT Val
VARIABLE x
VARIABLES y, z
ASSUME N \in Nat
ASSUME Named == N > 0
AXIOM TRUE
RECURSIVE Fact(_), Go(_, _)
Fact(n) == IF n = 0 THEN 1 ELSE n * Fact(n - 1)
Apply(Op(_), a) == Op(a)
Fold(_ + _, a, b) == a + b
a ++ b == <<a, b>>
-. a == 0 - a
a ^+ == a
f[n \in Nat, <<i, j>> \in Nat \X Nat] == n + i
LOCAL Hidden == 1
LOCAL INSTANCE Bags
INSTANCE Foo WITH c <- d, \oplus <- +, Op <- LAMBDA u : u
I == INSTANCE Bar
J(p, Q(_)) == INSTANCE Baz WITH a <- p
(*--algorithm ignored { { skip } } (* nested *) *)
--------
---- MODULE Inner ----
VARIABLE inner
Inside == inner
======
THEOREM T == x = x
PROOF OBVIOUS
LEMMA \A u \in Nat : u = u
<1>1. TRUE
  BY DEF Fact
<1> QED
THEOREM ASSUME NEW u \in Nat PROVE u = u
USE DEF Fact
====
And after it: ---- MODULE other ---- ( [ {
