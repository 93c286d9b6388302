---- MODULE ClockHours ----
\* Several initial states in one cycle, and a step property that TLC checks with the states.
EXTENDS Naturals
VARIABLES h, m
vars == <<h, m>>
Init == h \in 0..23 /\ m = 0
Tick == m' = (m + 15) % 60 /\ h' = IF m' = 0 THEN (h + 1) % 24 ELSE h
Spec == Init /\ [][Tick]_vars
Steps == [][m' # m]_vars
Ok == h < 24 /\ m \in {0, 15, 30, 45}
====
