---- MODULE BenchElection ----
\* Elections of four over three terms: functions to records and sets.
EXTENDS RaftElection
====
