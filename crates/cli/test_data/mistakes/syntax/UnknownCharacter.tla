---- MODULE UnknownCharacter ----
EXTENDS Naturals
Price == 3€ + 1
====
