---- MODULE NeedsSequences ----
EXTENDS Naturals
Longer(s) == Append(s, Len(s))
====
