---- MODULE CommentNotClosed ----
EXTENDS Naturals
(* a comment
Three == 3
====
