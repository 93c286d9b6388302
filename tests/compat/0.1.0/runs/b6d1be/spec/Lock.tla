-------------------------------- MODULE Lock --------------------------------
(***************************************************************************)
(* A lock that knows its owner.  Who wants it waits for a while, or does   *)
(* not wait at all, and is told when it did not get it.                    *)
(***************************************************************************)
CONSTANT Processes  \* Who uses the lock.

VARIABLE owners     \* Who owns the lock: one process, or none.

TypeOK == owners \subseteq Processes

OneOwner == \A p, q \in owners : p = q

Init == owners = {}

-----------------------------------------------------------------------------

\* Gets the lock, perhaps after waiting for it.
Acquire(process) ==
    /\ owners = {}
    /\ owners' = {process}

\* Has waited long enough, and somebody owns the lock.
AcquireTimeout(process) ==
    /\ owners # {}
    /\ UNCHANGED owners

\* Gets the lock at once.
TryAcquire(process) ==
    /\ owners = {}
    /\ owners' = {process}

\* Somebody owns the lock.
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
