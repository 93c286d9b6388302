---- MODULE ReplacedStore ----
CONSTANT Val
VARIABLE x
None == CHOOSE v : v \notin Val
Init == x = None
Put(v) == x = None /\ x' = v
====
