---- MODULE definitions ----
EXTENDS Naturals Sequences
VARIABLES x, y z
CONSTANT IN
single = 1
assigned := 2
params(a, b) = a
inside == a == b
LET == 3
empty ==
good == 1
f[x \in S] = x
semi == 1;
trailing == 1 +
typo == a \inn b
two == 1 2
====
