------------------------------ MODULE Snapshot ------------------------------
(***************************************************************************)
(* Transactions of WiredTiger under `isolation=snapshot`.                  *)
(*                                                                         *)
(* A transaction reads what was committed when it began, and what it wrote *)
(* itself.  Of two transactions that are open at the same time, only one   *)
(* may write a key: the second one is told to roll back when it tries, and *)
(* not only when it commits.  So no commit is expected to fail.  About the *)
(* levels: https://source.wiredtiger.com/mongodb-4.2/transactions.html.    *)
(***************************************************************************)
EXTENDS Naturals, TLC

CONSTANTS
    Sessions,       \* Who has transactions, one at a time.
    Keys,           \* The keys of the store.
    Values          \* What can be written.

VARIABLES
    store,          \* store[key]: what was committed last, and 0 at first.
    open            \* A function from the sessions that have a transaction to what is known of it:
                    \*   sees      what it reads, by key: the store when it began, and its own writes
                    \*   written   the keys it has written
                    \*   outdated  the keys that others have committed since it began

vars == <<store, open>>

Init ==
    /\ store = [key \in Keys |-> 0]
    /\ open = <<>>

\* The transactions that are open, but for the one of `session`.
Others(session) == [other \in DOMAIN open \ {session} |-> open[other]]

\* Another session has written `key` since the transaction of `session` began.
Conflict(session, key) ==
    \/ key \in open[session].outdated
    \/ \E other \in DOMAIN Others(session) : key \in open[other].written

-----------------------------------------------------------------------------

Begin(session) ==
    /\ session \notin DOMAIN open
    /\ open' = open @@ (session :> [sees |-> store, written |-> {}, outdated |-> {}])
    /\ UNCHANGED store

Read(session, key, value) ==
    /\ session \in DOMAIN open
    /\ value = open[session].sees[key]
    /\ UNCHANGED vars

Write(session, key, value, status) ==
    /\ session \in DOMAIN open
    /\ IF Conflict(session, key)
       THEN /\ status = "rollback"
            /\ UNCHANGED open
       ELSE /\ status = "ok"
            /\ open' = [open EXCEPT ![session].sees[key] = value,
                                    ![session].written = @ \cup {key}]
    /\ UNCHANGED store

\* All that was written is in the store at once.
Commit(session) ==
    /\ session \in DOMAIN open
    /\ LET mine == open[session] IN
       /\ store' = [key \in Keys |-> IF key \in mine.written THEN mine.sees[key] ELSE store[key]]
       /\ open' = [other \in DOMAIN Others(session) |-> [open[other] EXCEPT !.outdated = @ \cup mine.written]]

\* Nothing that was written is ever seen.
Rollback(session) ==
    /\ session \in DOMAIN open
    /\ open' = Others(session)
    /\ UNCHANGED store

Next ==
    \E session \in Sessions :
        \/ Begin(session)
        \/ \E key \in Keys, value \in Values \cup {0} : Read(session, key, value)
        \/ \E key \in Keys, value \in Values, status \in {"ok", "rollback"} : Write(session, key, value, status)
        \/ Commit(session)
        \/ Rollback(session)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ store \in [Keys -> Values \cup {0}]
    /\ DOMAIN open \subseteq Sessions
    /\ \A session \in DOMAIN open :
           open[session] \in [sees : [Keys -> Values \cup {0}], written : SUBSET Keys, outdated : SUBSET Keys]

\* The first to write a key is the only one.
OneWriter ==
    \A session \in DOMAIN open : \A key \in open[session].written : ~Conflict(session, key)

=============================================================================
