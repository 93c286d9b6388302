---- MODULE Tabs ----
EXTENDS Naturals
VARIABLES x, y
Next ==
	/\ x' = 1
        /\ y' = )
====
