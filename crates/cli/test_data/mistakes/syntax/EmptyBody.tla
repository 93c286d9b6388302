---- MODULE EmptyBody ----
EXTENDS Naturals
Two ==
Three == 3
====
