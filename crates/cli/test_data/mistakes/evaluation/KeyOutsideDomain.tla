---- MODULE KeyOutsideDomain ----
EXTENDS Naturals
f == [u \in {"alice", "bob"} |-> 1]
ASSUME f["carol"] = 30
====
