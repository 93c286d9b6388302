---- MODULE AssumeAboutVariable ----
EXTENDS Naturals
VARIABLE x
ASSUME x > 0
====
