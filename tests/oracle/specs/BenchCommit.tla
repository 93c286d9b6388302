---- MODULE BenchCommit ----
\* Two-phase commit of seven: sets of records.
EXTENDS TwoPhase
====
