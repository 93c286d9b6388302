---- MODULE NumberInStrings ----
EXTENDS Naturals
ASSUME 1 \in {"a", "b"}
====
