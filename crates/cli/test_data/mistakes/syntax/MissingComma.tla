---- MODULE MissingComma ----
EXTENDS Naturals
CONSTANTS A B
Set == {1 2}
====
