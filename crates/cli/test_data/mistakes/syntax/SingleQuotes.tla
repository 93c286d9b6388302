---- MODULE SingleQuotes ----
EXTENDS Naturals
Name == 'alice'
====
