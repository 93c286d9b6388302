---- MODULE Base ----
\* A part of ExtendsChain.
EXTENDS Naturals
CONSTANT Size
VARIABLE pos
Wrap(n) == n % Size
LOCAL Secret == 1
Start == pos = Secret
====
