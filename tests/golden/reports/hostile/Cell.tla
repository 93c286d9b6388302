-------------------------------- MODULE Cell --------------------------------
(***************************************************************************)
(* A cell, described by somebody who means harm.                           *)
(* </script><script>window.pwned = 1</script>                              *)
(* <!-- <img src=x onerror="window.pwned = 1"> --> ]]> &lt;b&gt; ${pwned}  *)
(***************************************************************************)
CONSTANT Values

VARIABLE cell       \* </pre></noscript><svg onload="window.pwned = 1">

Init == cell = "</script>"

Write(value) == cell' = value

Read(value) ==
    /\ cell # "<img src=x onerror=window.pwned=1>"
    /\ value = cell  \* <b>
    /\ UNCHANGED cell

Next == \E value \in Values : Write(value) \/ Read(value)

Spec == Init /\ [][Next]_cell
=============================================================================
