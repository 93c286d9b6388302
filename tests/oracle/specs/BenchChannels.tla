---- MODULE BenchChannels ----
\* Snapshots of accounts with more money: sequences in sequences.
EXTENDS Snapshot
====
