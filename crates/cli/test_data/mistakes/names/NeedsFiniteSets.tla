---- MODULE NeedsFiniteSets ----
EXTENDS Naturals
Size(s) == Cardinality(s)
====
