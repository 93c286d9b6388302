---- MODULE Replaced ----
EXTENDS ReplacedStore
I == INSTANCE ReplacedStore
J(S) == INSTANCE ReplacedStore WITH Val <- S
Null == "null"
Values == {"a", "b"}
Next == \E v \in Val : I!Put(v) \/ J({v})!Put(v)
Inv == x \in {"null", "a", "b"}
====
