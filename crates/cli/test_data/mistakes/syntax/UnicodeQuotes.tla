---- MODULE UnicodeQuotes ----
EXTENDS Naturals
Name == “alice”
====
