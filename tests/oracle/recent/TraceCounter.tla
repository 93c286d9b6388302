---- MODULE TraceCounter ----
EXTENDS TraceCounterBase, Sequences, TLC
VARIABLE l
B == INSTANCE TraceCounterBase
UpTwice == Up \cdot Up
Log == <<"up", "up", "reset">>
TraceInit == Init /\ l = 1
Logged(e, A) == l <= Len(Log) /\ Log[l] = e /\ l' = l + 1 /\ A
TraceNext == Logged("up", Up) \/ Logged("reset", Reset) \/ Logged("up", UpTwice)
TraceSpec == TraceInit /\ [][TraceNext]_<<x, l>>
Refines == B!Spec
AllRefines == \A n \in {1, 2} : B!Spec /\ []B!Small
Fair == B!FairSpec
Matched == [](l <= Len(Log) => [](TLCGet("queue") >= 1 \/ l > Len(Log)))
Stuck == [](l <= Len(Log) => [](TLCGet("queue") = 1 \/ l > Len(Log)))
Accepted == TLCGet("stats").diameter - 1 = Len(Log)
AllCounted == LET s == TLCGet("stats") IN
  /\ DOMAIN s = {"diameter", "distinct", "duration", "generated", "initial", "queue", "worker"}
  /\ s.initial = 1 /\ s.distinct = TLCGet("distinct") /\ s.generated = TLCGet("generated") /\ s.queue = 0
Done == l > Len(Log) => TLCSet("exit", TRUE)
====
