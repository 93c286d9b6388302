--------------------------- MODULE KeyValueStore ---------------------------
(***************************************************************************)
(* A key-value store with transactions under snapshot isolation.           *)
(*                                                                         *)
(* A transaction works on a copy of the store, made when it was opened.    *)
(* It commits only if no other transaction has committed a change of a key *)
(* that it wrote.  Identifiers are used again once a transaction is over.  *)
(***************************************************************************)
CONSTANTS
    Key,
    Val,
    TxId,           \* Identifiers of transactions.
    NoVal           \* The value of a key that the store does not have.

VARIABLES
    store,          \* The committed value of each key.
    tx,             \* The open transactions.
    snapshotStore,  \* snapshotStore[t]: the copy of the transaction t, with its own changes.
    written,        \* written[t]: the keys that t changed.
    missed          \* missed[t]: the keys that others committed since t was opened.

vars == <<store, tx, snapshotStore, written, missed>>

Stores == [Key -> Val \cup {NoVal}]
Empty == [k \in Key |-> NoVal]

ASSUME NoVal \notin Val

Init ==
    /\ store = Empty
    /\ tx = {}
    /\ snapshotStore = [t \in TxId |-> Empty]
    /\ written = [t \in TxId |-> {}]
    /\ missed = [t \in TxId |-> {}]

-----------------------------------------------------------------------------

OpenTx(t) ==
    /\ t \notin tx
    /\ tx' = tx \cup {t}
    /\ snapshotStore' = [snapshotStore EXCEPT ![t] = store]
    /\ UNCHANGED <<store, written, missed>>

\* The transaction t changes its copy.
Write(t, k, v) ==
    /\ t \in tx
    /\ snapshotStore' = [snapshotStore EXCEPT ![t][k] = v]
    /\ written' = [written EXCEPT ![t] = @ \cup {k}]
    /\ UNCHANGED <<store, tx, missed>>

Add(t, k, v) ==
    /\ snapshotStore[t][k] = NoVal
    /\ Write(t, k, v)

Update(t, k, v) ==
    /\ snapshotStore[t][k] # NoVal
    /\ Write(t, k, v)

Remove(t, k) ==
    /\ snapshotStore[t][k] # NoVal
    /\ Write(t, k, NoVal)

\* The transaction t is over, and its identifier is free.
Forget(t) ==
    /\ tx' = tx \ {t}
    /\ snapshotStore' = [snapshotStore EXCEPT ![t] = Empty]
    /\ written' = [written EXCEPT ![t] = {}]

RollbackTx(t) ==
    /\ t \in tx
    /\ Forget(t)
    /\ missed' = [missed EXCEPT ![t] = {}]
    /\ UNCHANGED store

CloseTx(t) ==
    /\ t \in tx
    /\ missed[t] \cap written[t] = {}
    /\ store' = [k \in Key |-> IF k \in written[t] THEN snapshotStore[t][k] ELSE store[k]]
    /\ Forget(t)
    /\ missed' = [u \in TxId |-> IF u \in tx \ {t} THEN missed[u] \cup written[t] ELSE {}]

Next ==
    \E t \in TxId :
        \/ OpenTx(t)
        \/ \E k \in Key :
            \/ \E v \in Val : Add(t, k, v) \/ Update(t, k, v)
            \/ Remove(t, k)
        \/ RollbackTx(t)
        \/ CloseTx(t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ store \in Stores
    /\ tx \subseteq TxId
    /\ snapshotStore \in [TxId -> Stores]
    /\ written \in [TxId -> SUBSET Key]
    /\ missed \in [TxId -> SUBSET Key]

\* Nothing is left of a transaction that is over.
FreeIsClean ==
    \A t \in TxId \ tx : snapshotStore[t] = Empty /\ written[t] = {} /\ missed[t] = {}

\* A copy differs from the store only where its transaction or a later commit changed it.
CopyIsCurrent ==
    \A t \in tx : \A k \in Key \ (written[t] \cup missed[t]) : snapshotStore[t][k] = store[k]

=============================================================================
