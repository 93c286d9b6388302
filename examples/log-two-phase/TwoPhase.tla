------------------------------ MODULE TwoPhase ------------------------------
(***************************************************************************)
(* Two-phase commit of one transaction: resource managers prepare, the     *)
(* transaction manager decides once, and every resource manager follows    *)
(* the decision.                                                           *)
(*                                                                         *)
(* A message that was sent stays in `msgs`, so that it may arrive late,    *)
(* repeatedly or never.  The steps have the granularity of the events that *)
(* two_phase.py logs, and the events are named after the actions.          *)
(***************************************************************************)
CONSTANT RM         \* The resource managers.

VARIABLES
    rmState,        \* rmState[r]: the state of the resource manager r.
    tmState,        \* The state of the transaction manager.
    tmPrepared,     \* The resource managers known to be prepared by the transaction manager.
    msgs            \* The messages that were sent.

vars == <<rmState, tmState, tmPrepared, msgs>>

Prepared(r) == [type |-> "Prepared", rm |-> r]
Commit == [type |-> "Commit"]
Abort == [type |-> "Abort"]

Messages == {Prepared(r) : r \in RM} \cup {Commit, Abort}

Init ==
    /\ rmState = [r \in RM |-> "working"]
    /\ tmState = "init"
    /\ tmPrepared = {}
    /\ msgs = {}

-----------------------------------------------------------------------------
\* The resource manager r.

Becomes(r, state) == rmState' = [rmState EXCEPT ![r] = state]

\* Promises to follow any decision.
RMPrepare(r) ==
    /\ rmState[r] = "working"
    /\ Becomes(r, "prepared")
    /\ msgs' = msgs \cup {Prepared(r)}
    /\ UNCHANGED <<tmState, tmPrepared>>

\* Aborts alone, which is possible until it is prepared.  Sends nothing: the transaction manager times out.
RMChooseToAbort(r) ==
    /\ rmState[r] = "working"
    /\ Becomes(r, "aborted")
    /\ UNCHANGED <<tmState, tmPrepared, msgs>>

RMRcvCommitMsg(r) ==
    /\ Commit \in msgs
    /\ Becomes(r, "committed")
    /\ UNCHANGED <<tmState, tmPrepared, msgs>>

RMRcvAbortMsg(r) ==
    /\ Abort \in msgs
    /\ Becomes(r, "aborted")
    /\ UNCHANGED <<tmState, tmPrepared, msgs>>

-----------------------------------------------------------------------------
\* The transaction manager.

\* A repeated message changes nothing.
TMRcvPrepared(r) ==
    /\ tmState = "init"
    /\ Prepared(r) \in msgs
    /\ tmPrepared' = tmPrepared \cup {r}
    /\ UNCHANGED <<rmState, tmState, msgs>>

Decides(state, message) ==
    /\ tmState = "init"
    /\ tmState' = state
    /\ msgs' = msgs \cup {message}
    /\ UNCHANGED <<rmState, tmPrepared>>

TMCommit ==
    /\ tmPrepared = RM
    /\ Decides("committed", Commit)

TMAbort == Decides("aborted", Abort)

Next ==
    \/ TMCommit
    \/ TMAbort
    \/ \E r \in RM :
        \/ RMPrepare(r)
        \/ RMChooseToAbort(r)
        \/ RMRcvCommitMsg(r)
        \/ RMRcvAbortMsg(r)
        \/ TMRcvPrepared(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ rmState \in [RM -> {"working", "prepared", "committed", "aborted"}]
    /\ tmState \in {"init", "committed", "aborted"}
    /\ tmPrepared \subseteq RM
    /\ msgs \subseteq Messages

\* No resource manager commits if another one aborts.
Agreement == \A a, b \in RM : ~(rmState[a] = "committed" /\ rmState[b] = "aborted")

=============================================================================
