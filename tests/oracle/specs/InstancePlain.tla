---- MODULE InstancePlain ----
\* INSTANCE without a name: constants and variables of the same name.
EXTENDS Naturals
CONSTANT Bound
VARIABLE cell
Step(n) == n + 1
INSTANCE Store
Doubled == cell * 2
Small == Doubled <= 2 * Bound
====
