---- MODULE LockFreeStack ----
\* A stack with compare-and-swap and nodes that are used again: the swap succeeds though the stack has changed.
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Threads, Nodes, Nil
VARIABLES top, next, free, at, old, follow, held
vars == <<top, next, free, at, old, follow, held>>
Init == /\ top = Nil /\ next = [n \in Nodes |-> Nil] /\ free = Nodes
        /\ at = [t \in Threads |-> "idle"] /\ old = [t \in Threads |-> Nil]
        /\ follow = [t \in Threads |-> Nil] /\ held = [t \in Threads |-> Nil]
Go(t, place) == at' = [at EXCEPT ![t] = place]
StartPush(t) == \E n \in free : /\ at[t] = "idle" /\ free' = free \ {n} /\ held' = [held EXCEPT ![t] = n]
                                /\ old' = [old EXCEPT ![t] = top] /\ next' = [next EXCEPT ![n] = top]
                                /\ Go(t, "push") /\ UNCHANGED <<top, follow>>
Push(t) == /\ at[t] = "push"
           /\ IF top = old[t]
              THEN top' = held[t] /\ held' = [held EXCEPT ![t] = Nil] /\ Go(t, "idle") /\ UNCHANGED <<next, old>>
              ELSE old' = [old EXCEPT ![t] = top] /\ next' = [next EXCEPT ![held[t]] = top] /\ UNCHANGED <<top, held, at>>
           /\ UNCHANGED <<free, follow>>
StartPop(t) == /\ at[t] = "idle" /\ top # Nil /\ old' = [old EXCEPT ![t] = top]
               /\ follow' = [follow EXCEPT ![t] = next[top]] /\ Go(t, "pop") /\ UNCHANGED <<top, next, free, held>>
Pop(t) == /\ at[t] = "pop"
          /\ IF top = old[t]
             THEN top' = follow[t] /\ free' = free \cup {old[t]}
             ELSE UNCHANGED <<top, free>>
          /\ Go(t, "idle") /\ UNCHANGED <<next, old, follow, held>>
Next == \E t \in Threads : StartPush(t) \/ Push(t) \/ StartPop(t) \/ Pop(t)
RECURSIVE Chain(_, _)
Chain(n, seen) == IF n = Nil \/ n \in seen THEN seen ELSE Chain(next[n], seen \cup {n})
Apart == Chain(top, {}) \cap free = {}
====
