---- MODULE Middle ----
\* A part of InstanceNested.
EXTENDS Naturals
CONSTANT Limit
VARIABLE m
LOCAL Bump(n) == n + 1
Inner == INSTANCE Store WITH Bound <- Limit, Step <- Bump, cell <- m
Begin == Inner!Init
Move == Inner!Next
====
