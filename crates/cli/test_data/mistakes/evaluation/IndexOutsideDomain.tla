---- MODULE IndexOutsideDomain ----
EXTENDS Naturals
f == <<10, 20>>
ASSUME f[3] = 30
====
