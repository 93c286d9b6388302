---- MODULE Progress ----
EXTENDS Naturals, TLC
VARIABLES x, level
Init == x \in {0, 5} /\ level = 0
Next == x < 8 /\ x' \in {x + 1, x + 2} /\ level' = TLCGet("level")
Spec == Init /\ [][Next]_<<x, level>>
Queue == TLCGet("queue") < 3
Generated == TLCGet("generated") < 12
Diameter == TLCGet("stats").diameter < 4
Distinct == TLCGet("distinct") < 9 \/ TLCGet("stats").initial # 2
Steps == [][TLCGet("level") = level']_<<x, level>>
Later == x = 0 => [](level < 3)
Never == [](x = 5 => [](level < 4))
Empty == [](x > 1 => [](TLCGet("queue") # 2))
====
