---- MODULE StringNotClosed ----
EXTENDS Naturals
Name == "alice
Three == 3
====
