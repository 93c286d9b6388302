Text before the module is not part of it.
---- MODULE Comments ----
\* Comments (* of both *) kinds, nested ones, and separators.
EXTENDS Naturals
(* outer (* inner *) still outer *)
VARIABLE x \* trailing
--------------------------------------------------------------
Init == x = (* inside *) 0
Next == \/ /\ x < 3 \* first
           (* between *)
           /\ x' = x + 1
        \/ /\ x = 3
           /\ x' = 0
==============================================================
Text after the module is not part of it: Init == 1 +
