------------------------------ MODULE Snapshot ------------------------------
(***************************************************************************)
(* A store of keys and values with transactions under snapshot isolation.  *)
(*                                                                         *)
(* A transaction works on a picture of the store that was taken when it    *)
(* began.  It sees what it writes itself, and nothing that others commit   *)
(* meanwhile.  When it commits, all its writes reach the store at once,    *)
(* unless another transaction has committed one of the same keys since:    *)
(* the first to commit wins, and the second is told of a conflict.         *)
(*                                                                         *)
(* Snapshot isolation lets two transactions each read what the other one   *)
(* writes, and both commit, which is called write skew.  If `Serializable` *)
(* is TRUE then a transaction that writes must also have read nothing that *)
(* has changed since, and write skew is a conflict.                        *)
(***************************************************************************)
EXTENDS TLC

CONSTANTS
    Transactions,   \* Names of transactions.  A name may be used again when its transaction is over.
    Keys,           \* The keys of the store.
    Values,         \* What can be written.
    Nil,            \* What is read where nothing was written.
    Serializable    \* Whether write skew is a conflict.

VARIABLES
    store,          \* store[key]: what was committed last.
    open            \* A function from the transactions that have begun and are not over to what is known of each:
                    \*   sees      what it reads, by key: the store when it began, and its own writes
                    \*   read      the keys it has read
                    \*   written   the keys it has written
                    \*   outdated  the keys that others have committed since it began

vars == <<store, open>>

Init ==
    /\ store = [key \in Keys |-> Nil]
    /\ open = <<>>

\* The transactions that are open, but for `tx`.
Others(tx) == [t \in DOMAIN open \ {tx} |-> open[t]]

\* `tx` must not commit.
Conflict(tx) ==
    \/ open[tx].written \cap open[tx].outdated # {}
    \/ /\ Serializable
       /\ open[tx].written # {}
       /\ open[tx].read \cap open[tx].outdated # {}

-----------------------------------------------------------------------------

Begin(tx) ==
    /\ tx \notin DOMAIN open
    /\ open' = open @@ (tx :> [sees |-> store, read |-> {}, written |-> {}, outdated |-> {}])
    /\ UNCHANGED store

Read(tx, key, value) ==
    /\ tx \in DOMAIN open
    /\ value = open[tx].sees[key]
    /\ open' = [open EXCEPT ![tx].read = @ \cup {key}]
    /\ UNCHANGED store

Write(tx, key, value) ==
    /\ tx \in DOMAIN open
    /\ open' = [open EXCEPT ![tx].sees[key] = value,
                            ![tx].written = @ \cup {key}]
    /\ UNCHANGED store

\* The transaction is over.  With the status "ok" all its writes are in the store, with "conflict" none is.
Commit(tx, status) ==
    /\ tx \in DOMAIN open
    /\ IF Conflict(tx)
       THEN /\ status = "conflict"
            /\ open' = Others(tx)
            /\ UNCHANGED store
       ELSE /\ status = "ok"
            /\ open' = [t \in DOMAIN Others(tx) |-> [open[t] EXCEPT !.outdated = @ \cup open[tx].written]]
            /\ store' = [key \in Keys |-> IF key \in open[tx].written THEN open[tx].sees[key] ELSE store[key]]

\* The transaction is over, and nothing that it wrote is ever seen.
Abort(tx) ==
    /\ tx \in DOMAIN open
    /\ open' = Others(tx)
    /\ UNCHANGED store

Next ==
    \E tx \in Transactions :
        \/ Begin(tx)
        \/ \E key \in Keys, value \in Values \cup {Nil} : Read(tx, key, value)
        \/ \E key \in Keys, value \in Values : Write(tx, key, value)
        \/ \E status \in {"ok", "conflict"} : Commit(tx, status)
        \/ Abort(tx)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ store \in [Keys -> Values \cup {Nil}]
    /\ DOMAIN open \subseteq Transactions
    /\ \A tx \in DOMAIN open :
           open[tx] \in [sees : [Keys -> Values \cup {Nil}],
                         read : SUBSET Keys, written : SUBSET Keys, outdated : SUBSET Keys]

\* A transaction sees what is committed, except where it knows better or others were faster.
SeesTheStore ==
    \A tx \in DOMAIN open : \A key \in Keys \ (open[tx].written \cup open[tx].outdated) :
        open[tx].sees[key] = store[key]

=============================================================================
