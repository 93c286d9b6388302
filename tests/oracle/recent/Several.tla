---- MODULE Several ----
EXTENDS SeveralBase
T == INSTANCE SeveralTop WITH limit <- 3
Next == Step(T!Most)
====
A module of this file extends another one.
---- MODULE SeveralTop ----
EXTENDS Integers
CONSTANT limit
Most == limit + 1
====
---- MODULE SeveralBase ----
EXTENDS Integers
VARIABLE x
Init == x = 0
Step(n) == x < n /\ x' = x + 1
====
