---- MODULE brackets ----
paren == (a + b
square == [a \in S |-> b
brace == {a, b
angle == <<a, b
extra == a + b)
crossed == (a + [b)]
comma == {a b}
call == f(a b)
left ==
  /\ f(a,
  b)
  /\ c
record == [a |-> 1 b |-> 2]
====
