---- MODULE Bounded ----
\* A part of CfgInModuleStandard.
LOCAL INSTANCE Naturals
Numbers == {n \in Nat : n % 2 = 0}
====
