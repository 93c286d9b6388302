---- MODULE CacheMsi ----
\* Caches with modified, shared and invalid lines over an atomic bus.
EXTENDS Naturals
CONSTANTS Cores, Top
VARIABLES line, memory
Init == line = [c \in Cores |-> [state |-> "I", value |-> 0]] /\ memory = 0
Owner == {c \in Cores : line[c].state = "M"}
Current == IF Owner = {} THEN memory ELSE line[CHOOSE c \in Owner : TRUE].value
Load(c) == /\ line[c].state = "I"
           /\ memory' = Current
           /\ line' = [d \in Cores |-> IF d = c THEN [state |-> "S", value |-> Current]
                                       ELSE IF line[d].state = "M" THEN [line[d] EXCEPT !.state = "S"] ELSE line[d]]
Store(c, v) == /\ memory' = Current
               /\ line' = [d \in Cores |-> IF d = c THEN [state |-> "M", value |-> v] ELSE [state |-> "I", value |-> 0]]
Evict(c) == /\ line[c].state # "I"
            /\ memory' = IF line[c].state = "M" THEN line[c].value ELSE memory
            /\ line' = [line EXCEPT ![c].state = "I", ![c].value = 0]
Next == \E c \in Cores : Load(c) \/ Evict(c) \/ \E v \in 0..Top : Store(c, v)
Coherent == /\ \A c, d \in Cores : c # d /\ line[c].state = "M" => line[d].state = "I"
            /\ \A c \in Cores : line[c].state = "S" => line[c].value = memory
====
