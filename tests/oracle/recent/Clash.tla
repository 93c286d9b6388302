---- MODULE Clash ----
EXTENDS SequencesExt, ClashOwn, Naturals
VARIABLE x
Init == x = Remove(<<5, 6>>, 6)
Next == x' = x
Inv == x = <<5>>
====
