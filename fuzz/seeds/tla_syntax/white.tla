---- MODULE white ----
VARIABLE x
	a ==
	/\ x
        /\ LET u ==
		1 IN u
	(* c *)	/\ "a	b"
====
