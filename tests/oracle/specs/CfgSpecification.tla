---- MODULE CfgSpecification ----
\* SPECIFICATION: the parts are found in a conjunction with fairness.
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Begin == x \in 0..1 /\ y = 0
Move == x' = (x + 1) % 4 /\ y' = (y + x) % 3
Rest == x = 3 /\ UNCHANGED vars
Step == Move \/ Rest
Fair == WF_vars(Move) /\ SF_vars(Rest)
Spec == Begin /\ [][Step]_vars /\ Fair
TypeOK == x \in 0..3 /\ y \in 0..2
AlwaysOK == []TypeOK
====
