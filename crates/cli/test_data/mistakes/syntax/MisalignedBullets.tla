---- MODULE MisalignedBullets ----
EXTENDS Naturals
VARIABLES x, y
Init == /\ x = 0
       /\ y = 0
      /\ y < 9
Next == /\ x' = 1
          /\ y' = 1
====
