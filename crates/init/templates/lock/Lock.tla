-------------------------------- MODULE Lock --------------------------------
(***************************************************************************)
(* A lock that knows its owner.  A process waits for a while to get it,    *)
(* or does not wait, and learns whether it got the lock.                   *)
(***************************************************************************)
CONSTANT Processes  \* The users of the lock.

VARIABLE owners     \* The owner of the lock: at most one process.

TypeOK == owners \subseteq Processes

OneOwner == \A p, q \in owners : p = q

Init == owners = {}

-----------------------------------------------------------------------------

\* Gets the lock, perhaps after waiting for it.
Acquire(process) ==
    /\ owners = {}
    /\ owners' = {process}

\* Has waited long enough, and a process owns the lock.
AcquireTimeout(process) ==
    /\ owners # {}
    /\ UNCHANGED owners

\* Gets the lock at once.
TryAcquire(process) ==
    /\ owners = {}
    /\ owners' = {process}

\* A process owns the lock.
TryAcquireBusy(process) ==
    /\ owners # {}
    /\ UNCHANGED owners

\* Gives the lock back.
Release(process) ==
    /\ process \in owners
    /\ owners' = {}

Next ==
    \E process \in Processes :
        \/ Acquire(process)
        \/ AcquireTimeout(process)
        \/ TryAcquire(process)
        \/ TryAcquireBusy(process)
        \/ Release(process)

Spec == Init /\ [][Next]_owners

=============================================================================
