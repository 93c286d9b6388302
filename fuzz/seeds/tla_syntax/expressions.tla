---- MODULE expressions ----
numbers == <<12, 007, 99999999999999999999, \b101, \o17, \HfF, 1.5, -3>>
strings == <<"", "a\"b\\c\n", "(* no comment *)", "tab\there", "é">>
constants == <<TRUE, FALSE, BOOLEAN, STRING, Nat, ℤ>>
bullets ==
  /\ a
  /\ \/ b
     \/ c
  /\ d => e
       /\ f
one == /\ a
infix == a /\ b /\ c
unicode == ∀ x ∈ S : x ≠ y ∧ ¬z ⇒ □w ∧ v ∪ ⟨v⟩
condition == IF a THEN b ELSE c + 1
cases == CASE a -> 1 [] b -> 2 □ c -> 3 [] OTHER -> 4
lets == LET u == 1 g[i \in S] == i RECURSIVE h(_) h(i) == h(i) K(p) == INSTANCE M WITH a <- p IN u
quantified == \A u, v \in S, <<w, q>> \in T : \E r \in U : r
unbounded == <<\A u : p, \E u, v : p, \AA u : p, \EE u : p>>
chosen == <<CHOOSE u \in S : p, CHOOSE u : p, CHOOSE <<u, v>> \in S : p>>
sets == <<{}, {1, 2}, {u \in S : p}, {<<u, v>> \in S : p}, {u + v : u \in S, v \in T}, {u \in S : u \in T}>>
functions == <<[u \in S |-> u], [u, v \in S, w \in T |-> u], [S -> T], f[1], f[1, 2], f[1][2]>>
records == <<[a |-> 1, b |-> 2], [a : S, b : T], r.a.b, r.a[1].c>>
except == [f EXCEPT ![1] = @ + 1, !.a.b = 2, ![1, 2].c[3] = 4]
product == <<A \X B \X C, (A \X B) \X C, A \X (B \times C)>>
actions == <<[A]_v, <<A>>_v, [A]_<<u, v>>, WF_v(A), SF_<<u, v>>(A), WF_I!v(A \/ B)>>
temporal == <<[]p, <>q, []<>p, p ~> q, ENABLED A, UNCHANGED <<u, v>>, u', f[u']', (u + v)'>>
labels == lab(u) :: u + 1
arguments == <<Fold(+, 0, f), Fold(\cup, {}, f), Map(LAMBDA u, v : u, s), Neg(-.), Op(SUBSET), +(1, 2)>>
instances == <<I!Op, I!Op(a), I(a)!Op(b), I(a)!J!Op, I!f[1], I!x'>>
inner == <<Op!1, Op(a)!lab!<<, Op!(3)>>
minus == <<-a, -a + b, a - b, a - -b, -a^b, -a * b, a-1>>
prefixes == <<~a /\ b, ~a = b, DOMAIN f \cup S, SUBSET S \ T, UNION {S}, ~ ~a, []~a, a = ~b>>
postfix == <<a^+, a^*, a^#, a'>>
strengths == <<a + b - c, a - b + c, a = b /\ c = d => e, a .. b + 1, a :> b @@ c :> d, a \o b \o c, a * b + c * d>>
custom == <<a \prec b, a (+) b, a \oplus b, a $ b, a ?? b, a !! b, a && b, a := b, a ::= b, a \cdot b>>
====
