---- MODULE dashes
a == 1
====
