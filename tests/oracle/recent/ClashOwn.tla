---- MODULE ClashOwn ----
Remove(s, e) == <<s, e>>
====
