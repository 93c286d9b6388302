---- MODULE WrongClosing ----
EXTENDS Naturals
Set == {1, 2)
Three == 3
====
