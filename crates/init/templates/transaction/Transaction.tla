---------------------------- MODULE Transaction ----------------------------
(***************************************************************************)
(* A store of keys and values with transactions under snapshot isolation.  *)
(*                                                                         *)
(* A session has one transaction at a time.  It works on a snapshot of the *)
(* store that is taken when it begins, and sees its own writes there.      *)
(* When it commits, all its writes reach the store at once, unless another *)
(* one has committed one of the same keys since: the first to commit wins. *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Processes,      \* The sessions.
    Keys,           \* The keys of the store.
    Values          \* The values that can be written.

VARIABLES
    store,          \* store[key]: the value committed last, and 0 before that.
    open,           \* The sessions with an open transaction.
    sees,           \* sees[process][key]: the value that the transaction of that session reads.
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

\* The store has all writes of the transaction.
Commit(process) ==
    /\ process \in open
    /\ written[process] \cap outdated[process] = {}
    /\ open' = open \ {process}
    /\ store' = [key \in Keys |-> IF key \in written[process] THEN sees[process][key] ELSE store[key]]
    /\ outdated' = [other \in Processes |-> outdated[other] \cup written[process]]
    /\ UNCHANGED <<sees, written>>

\* Another transaction was faster. The transaction is over, and the store has none of its writes.
CommitConflict(process) ==
    /\ process \in open
    /\ written[process] \cap outdated[process] # {}
    /\ open' = open \ {process}
    /\ UNCHANGED <<store, sees, written, outdated>>

\* The transaction is over, and the store has none of its writes.
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
