---- MODULE Other ----
Three == 3
====
