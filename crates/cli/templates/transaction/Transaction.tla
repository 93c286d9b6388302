---------------------------- MODULE Transaction ----------------------------
(***************************************************************************)
(* A store of keys and values with transactions under snapshot isolation.  *)
(*                                                                         *)
(* A session has one transaction at a time.  It works on a picture of the  *)
(* store that was taken when it began, and sees its own writes there.      *)
(* When it commits, all its writes reach the store at once, unless another *)
(* one has committed one of the same keys since: the first to commit wins. *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Processes,      \* The sessions.
    Keys,           \* The keys of the store.
    Values          \* What can be written.

VARIABLES
    store,          \* store[key]: what was committed last, and 0 before that.
    open,           \* The sessions whose transaction has begun and is not over.
    sees,           \* sees[process][key]: what the transaction of that session reads.
    written,        \* written[process]: the keys it has written.
    outdated        \* outdated[process]: the keys that others have committed since it began.

vars == <<store, open, sees, written, outdated>>

Pictures == [Keys -> Values \cup {0}]

TypeOK ==
    /\ store \in Pictures
    /\ open \subseteq Processes
    /\ sees \in [Processes -> Pictures]
    /\ written \in [Processes -> SUBSET Keys]
    /\ outdated \in [Processes -> SUBSET Keys]

Init ==
    /\ store = [key \in Keys |-> 0]
    /\ open = {}
    /\ sees = [process \in Processes |-> store]
    /\ written = [process \in Processes |-> {}]
    /\ outdated = [process \in Processes |-> {}]

-----------------------------------------------------------------------------

Begin(process) ==
    /\ process \notin open
    /\ open' = open \cup {process}
    /\ sees' = [sees EXCEPT ![process] = store]
    /\ written' = [written EXCEPT ![process] = {}]
    /\ outdated' = [outdated EXCEPT ![process] = {}]
    /\ UNCHANGED store

Read(process, key, value) ==
    /\ process \in open
    /\ value = sees[process][key]
    /\ UNCHANGED vars

Write(process, key, value) ==
    /\ process \in open
    /\ sees' = [sees EXCEPT ![process][key] = value]
    /\ written' = [written EXCEPT ![process] = @ \cup {key}]
    /\ UNCHANGED <<store, open, outdated>>

\* Everything that was written is in the store.
Commit(process) ==
    /\ process \in open
    /\ written[process] \cap outdated[process] = {}
    /\ open' = open \ {process}
    /\ store' = [key \in Keys |-> IF key \in written[process] THEN sees[process][key] ELSE store[key]]
    /\ outdated' = [other \in Processes |-> outdated[other] \cup written[process]]
    /\ UNCHANGED <<sees, written>>

\* Another transaction was faster. The transaction is over, and nothing that it wrote is in the store.
CommitConflict(process) ==
    /\ process \in open
    /\ written[process] \cap outdated[process] # {}
    /\ open' = open \ {process}
    /\ UNCHANGED <<store, sees, written, outdated>>

\* The transaction is over, and nothing that it wrote is in the store.
Abort(process) ==
    /\ process \in open
    /\ open' = open \ {process}
    /\ UNCHANGED <<store, sees, written, outdated>>

Next ==
    \E process \in Processes :
        \/ Begin(process)
        \/ \E key \in Keys, value \in Values \cup {0} : Read(process, key, value)
        \/ \E key \in Keys, value \in Values : Write(process, key, value)
        \/ Commit(process)
        \/ CommitConflict(process)
        \/ Abort(process)

Spec == Init /\ [][Next]_vars

=============================================================================
