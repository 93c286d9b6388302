---- MODULE keywords ----
then == IF a b ELSE c
else == IF a THEN b
lower == IF a then b else c
in == LET a == 1 a
arrow == CASE a : b
bound == \A x S : x
word == \A x in S : x
colon == \E x \in S x
choose == CHOOSE x \in S
lambda == f(LAMBDA x x)
name == \A IF \in S : x
neq == a != b
not == !a
not2 == a /\ !(b)
except == [f EXCEPT [1] = 2]
LOCAL
last == 1
====
