---- MODULE MisalignedBullets ----
EXTENDS Naturals
VARIABLES x, y
Init == /\ x =
        0
        /\ y = 0
Next == /\ x' = (1 +
      2)
        /\ y' = 1
====
