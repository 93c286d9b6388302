---- MODULE UnknownModule ----
EXTENDS Natural, Lists
Three == 3
====
