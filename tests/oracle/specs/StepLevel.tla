---- MODULE StepLevel ----
\* A constraint on steps is evaluated at the level of the state before the step, one on states at the level of the state.
EXTENDS Integers, TLC
VARIABLE x
Init == x = 0
Next == x < 9 /\ x' \in {x + 1, x + 2}
EarlyState == TLCGet("level") <= 4
EarlyStep == TLCGet("level") <= 3
====
