------------------------------- MODULE Failed -------------------------------
(***************************************************************************)
(* What becomes of a transaction in which a write has failed.              *)
(*                                                                         *)
(* A write fails if another transaction that is still open has written the *)
(* same key: its session is told to roll back.  WiredTiger says that the   *)
(* transaction should then be rolled back                                  *)
(* (https://source.wiredtiger.com/mongodb-4.2/transactions.html).  What    *)
(* happens to one that commits all the same is the question, and `Strict`  *)
(* the answer:                                                             *)
(*                                                                         *)
(*   TRUE    a transaction in which a write has failed cannot commit       *)
(*   FALSE   it cannot commit if it has written something besides; if it   *)
(*           has not, there is nothing to commit, and that succeeds        *)
(*           (https://jira.mongodb.org/browse/WT-1845)                     *)
(*                                                                         *)
(* Values do not matter here, and are left out.                            *)
(***************************************************************************)
EXTENDS TLC

CONSTANTS
    Sessions,       \* Who has transactions, one at a time.
    Keys,           \* What is written.
    Strict          \* Whether a write that fails is enough to forbid the commit.

VARIABLE open       \* A function from the sessions that have a transaction to what is known of it:
                    \*   written   the keys it has written
                    \*   failed    whether a write has failed

Init == open = <<>>

\* Another transaction has written `key` and is not over.
Taken(session, key) == \E other \in DOMAIN open \ {session} : key \in open[other].written

\* The transaction of `session` cannot commit.
Doomed(session) ==
    /\ open[session].failed
    /\ Strict \/ open[session].written # {}

-----------------------------------------------------------------------------

Begin(session) ==
    /\ session \notin DOMAIN open
    /\ open' = open @@ (session :> [written |-> {}, failed |-> FALSE])

Update(session, key, status) ==
    /\ session \in DOMAIN open
    /\ IF Taken(session, key)
       THEN /\ status = "rollback"
            /\ open' = [open EXCEPT ![session].failed = TRUE]
       ELSE /\ status = "ok"
            /\ open' = [open EXCEPT ![session].written = @ \cup {key}]

\* The transaction is over, whatever is said.
Commit(session, status) ==
    /\ session \in DOMAIN open
    /\ status = IF Doomed(session) THEN "refused" ELSE "ok"
    /\ open' = [other \in DOMAIN open \ {session} |-> open[other]]

Next ==
    \E session \in Sessions, status \in {"ok", "rollback", "refused"} :
        \/ Begin(session)
        \/ \E key \in Keys : Update(session, key, status)
        \/ Commit(session, status)

Spec == Init /\ [][Next]_open

-----------------------------------------------------------------------------

TypeOK ==
    /\ DOMAIN open \subseteq Sessions
    /\ \A session \in DOMAIN open : open[session] \in [written : SUBSET Keys, failed : BOOLEAN]

\* No key is written by two transactions at once.
OneWriter ==
    \A session \in DOMAIN open : \A key \in open[session].written : ~Taken(session, key)

=============================================================================
