---- MODULE IfCaseLet ----
\* Control flow inside of actions.
EXTENDS Naturals
VARIABLES x, mode
Init == x = 0 /\ mode = "up"
Step == IF mode = "up"
        THEN IF x < 4 THEN x' = x + 1 /\ mode' = mode ELSE mode' = "down" /\ x' = x
        ELSE x > 0 /\ x' = x - 1 /\ UNCHANGED mode
Jump == CASE x = 0 -> x' \in {1, 2} /\ UNCHANGED mode
          [] x = 4 /\ mode = "down" -> mode' = "up" /\ UNCHANGED x
          [] x = 4 -> FALSE
          [] OTHER -> LET half == x \div 2 other == IF mode = "up" THEN "down" ELSE "up"
                      IN x' = half /\ mode' = other
Next == Step \/ Jump
====
