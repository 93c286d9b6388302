---- MODULE AssertFailed ----
EXTENDS Naturals, TLC
ASSUME Assert(1 > 2, "one is not more than two")
====
