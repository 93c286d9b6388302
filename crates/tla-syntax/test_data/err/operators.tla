---- MODULE operators ----
andor == a \/ b /\ c
equal == 1 = 2 = 3
implies == a => b => c
minus == a * -b
sets == a \cup b \ c
prime == UNCHANGED x'
box == []a = b
product == SUBSET S \X T
nested == (a \/ b /\ c) \/ {a = b = c}
fine == (a \/ b) /\ c
====
