---- MODULE NeedsNaturals ----
Two == 1 + 1
Domain == 1..3
====
