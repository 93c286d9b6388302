---- MODULE ErrorAfterSteps ----
EXTENDS Naturals, Sequences
VARIABLE queue
Init == queue = <<>>
Pop(q) == Tail(q)
Push(n) == queue' = Append(queue, n)
Take == queue' = Pop(Pop(queue))
Next == \/ Len(queue) < 1 /\ Push(1)
        \/ Len(queue) = 1 /\ Take
====
