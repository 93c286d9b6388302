---- MODULE SubmoduleSpec ----
\* A module inside of a module.
EXTENDS Naturals
VARIABLES x
---- MODULE Inner ----
CONSTANT K
Step(v) == (v + K) % 7
Twice(v) == Step(Step(v))
====
By2 == INSTANCE Inner WITH K <- 2
By(n) == INSTANCE Inner WITH K <- n
Init == x = 0
Next == x' = By2!Twice(x) \/ x' = By(x)!Step(x) \/ x' = By(3)!Step(x)
====
