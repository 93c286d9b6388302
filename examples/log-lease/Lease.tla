------------------------------- MODULE Lease -------------------------------
\* A lease service. The arbiter gives a lease to one worker at a time, with a higher epoch each time. The storage refuses
\* writes of an epoch that is lower than one that it has seen.
EXTENDS Naturals

CONSTANTS Worker, None

VARIABLES
    holder,     \* The worker that the arbiter gave the lease to, or None.
    epoch,      \* The epoch of the last lease.
    lease,      \* The epoch that each worker holds, or 0.
    seen,       \* The highest epoch that the storage has seen.
    net         \* The messages on their way.

vars == <<holder, epoch, lease, seen, net>>

Init ==
    /\ holder = None
    /\ epoch = 0
    /\ lease = [w \in Worker |-> 0]
    /\ seen = 0
    /\ net = {}

Send(m) == net' = net \cup {m}

Receive(m) == m \in net /\ net' = net \ {m}

Reply(m, r) == m \in net /\ net' = (net \ {m}) \cup {r}

Ask(w) ==
    /\ Send([type |-> "ask", from |-> w])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Grant(w) ==
    /\ holder = None
    /\ Reply([type |-> "ask", from |-> w], [type |-> "grant", to |-> w, epoch |-> epoch + 1])
    /\ holder' = w
    /\ epoch' = epoch + 1
    /\ UNCHANGED <<lease, seen>>

Deny(w) ==
    /\ holder # None
    /\ Reply([type |-> "ask", from |-> w], [type |-> "deny", to |-> w])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Expire ==
    /\ holder # None
    /\ holder' = None
    /\ UNCHANGED <<epoch, lease, seen, net>>

Granted(w) ==
    /\ \E m \in net :
        /\ m.type = "grant"
        /\ m.to = w
        /\ lease' = [lease EXCEPT ![w] = m.epoch]
        /\ Receive(m)
    /\ UNCHANGED <<holder, epoch, seen>>

Denied(w) ==
    /\ Receive([type |-> "deny", to |-> w])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Write(w, n) ==
    /\ lease[w] # 0
    /\ Send([type |-> "write", from |-> w, epoch |-> lease[w], n |-> n])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Accept(w, n) ==
    /\ \E m \in net :
        /\ m.type = "write" /\ m.from = w /\ m.n = n
        /\ m.epoch >= seen
        /\ seen' = m.epoch
        /\ Reply(m, [type |-> "ok", to |-> w, n |-> n])
    /\ UNCHANGED <<holder, epoch, lease>>

Refuse(w, n) ==
    /\ \E m \in net :
        /\ m.type = "write" /\ m.from = w /\ m.n = n
        /\ m.epoch < seen
        /\ Reply(m, [type |-> "stale", to |-> w, n |-> n])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Done(w, n) ==
    /\ Receive([type |-> "ok", to |-> w, n |-> n])
    /\ UNCHANGED <<holder, epoch, lease, seen>>

Lost(w, n) ==
    /\ Receive([type |-> "stale", to |-> w, n |-> n])
    /\ lease' = [lease EXCEPT ![w] = 0]
    /\ UNCHANGED <<holder, epoch, seen>>

Next ==
    \/ Expire
    \/ \E w \in Worker :
        \/ Ask(w) \/ Grant(w) \/ Deny(w) \/ Granted(w) \/ Denied(w)
        \/ \E n \in Nat : Write(w, n) \/ Accept(w, n) \/ Refuse(w, n) \/ Done(w, n) \/ Lost(w, n)
=============================================================================
