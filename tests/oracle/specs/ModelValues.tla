---- MODULE ModelValues ----
\* Model values are equal to themselves only, and comparable with everything.
EXTENDS Naturals, FiniteSets
CONSTANTS Procs, None, Null
VARIABLES owner, seen
Init == owner = None /\ seen = {}
Take(p) == owner = None /\ owner' = p /\ seen' = seen \cup {p}
Drop == owner # None /\ owner' = None /\ UNCHANGED seen
Odd == owner # 5 /\ owner # "x" /\ Cardinality(seen) = 2 /\ owner' = Null /\ seen' = {}
Next == (\E p \in Procs : Take(p)) \/ Drop \/ Odd
Ok == owner \in Procs \cup {None, Null} /\ None # Null
====
