-------------------------------- MODULE Raft --------------------------------
(***************************************************************************)
(* Raft with a fixed set of servers, without snapshots and pre-vote, at    *)
(* the granularity of the events that the nodes of this example log.       *)
(*                                                                         *)
(* One action receives a message, updates the term, and sends the reply.   *)
(* Elections, replication and commits follow the library `raft`: a new     *)
(* leader appends an empty entry, heartbeats are messages of their own     *)
(* that carry a commit index, and messages of an older term are ignored    *)
(* without a reply.                                                        *)
(*                                                                         *)
(* Messages may be reordered, delayed for ever or dropped, but not         *)
(* duplicated.  Term, vote, log and commit index survive a restart.        *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Server,
    Value,          \* What clients propose.
    Nil             \* No server.

VARIABLES
    currentTerm,    \* Per server: its term.
    votedFor,       \* Per server: the server it voted for in its term, or Nil.
    role,           \* Per server: "Follower", "Candidate" or "Leader".
    log,            \* Per server: its entries, each with a term and a value.
    commitIndex,    \* Per server: how many of its entries are committed.
    granted,        \* Per candidate: the servers that gave it their vote.
    refused,        \* Per candidate: the servers that refused it.
    matchIndex,     \* Per leader and server: how many entries are known to agree.
    messages,       \* A bag: how often each message is on its way.
    elected         \* All elections won so far, as pairs of term and leader.  Only invariants read it.

persistent == <<currentTerm, votedFor, log, commitIndex>>
tally == <<granted, refused>>
vars == <<persistent, role, tally, matchIndex, messages, elected>>

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

IsQuorum(servers) == Cardinality(servers) * 2 > Cardinality(Server)

TermAt(entries, index) == IF index = 0 THEN 0 ELSE entries[index].term
LastTerm(entries) == TermAt(entries, Len(entries))

NoOp == ""          \* The value of the empty entry with which a leader begins.

Init ==
    /\ currentTerm = [i \in Server |-> 0]
    /\ votedFor = [i \in Server |-> Nil]
    /\ role = [i \in Server |-> "Follower"]
    /\ log = [i \in Server |-> <<>>]
    /\ commitIndex = [i \in Server |-> 0]
    /\ granted = [i \in Server |-> {}]
    /\ refused = [i \in Server |-> {}]
    /\ matchIndex = [i \in Server |-> [j \in Server |-> 0]]
    /\ messages = <<>>
    /\ elected = {}

-----------------------------------------------------------------------------
\* Messages.

Count(bag, m) == IF m \in DOMAIN bag THEN bag[m] ELSE 0

With(bag, m) == [x \in DOMAIN bag \cup {m} |-> IF x = m THEN Count(bag, m) + 1 ELSE bag[x]]

Without(bag, m) ==
    IF bag[m] > 1 THEN [bag EXCEPT ![m] = @ - 1] ELSE [x \in DOMAIN bag \ {m} |-> bag[x]]

Send(m) == messages' = With(messages, m)

\* The message m arrives and has no reply.
Consume(m) ==
    /\ m \in DOMAIN messages
    /\ messages' = Without(messages, m)

\* The message m arrives and is answered.
Reply(m, reply) ==
    /\ m \in DOMAIN messages
    /\ messages' = With(Without(messages, m), reply)

\* A message that its receiver has to look at: of its own term, or of a later one.
IsCurrent(m) == m.term >= currentTerm[m.to]
IsNewer(m) == m.term > currentTerm[m.to]

-----------------------------------------------------------------------------
\* What all actions share that end or begin a candidacy or a leadership of i.

SetRole(i, new) == role' = [role EXCEPT ![i] = new]
ClearTally(i) ==
    /\ granted' = [granted EXCEPT ![i] = {}]
    /\ refused' = [refused EXCEPT ![i] = {}]
ClearMatch(i) == matchIndex' = [matchIndex EXCEPT ![i] = [j \in Server |-> 0]]

BecomeFollower(i) ==
    /\ SetRole(i, "Follower")
    /\ ClearTally(i)
    /\ ClearMatch(i)

KeepRole == UNCHANGED <<role, tally, matchIndex>>

\* i learns of the term of m, and its vote is free again if that term is new.
Learn(i, m) ==
    /\ currentTerm' = [currentTerm EXCEPT ![i] = m.term]
    /\ votedFor' = [votedFor EXCEPT ![i] = IF IsNewer(m) THEN Nil ELSE @]

-----------------------------------------------------------------------------
\* Elections.

Timeout(i) ==
    /\ role[i] # "Leader"
    /\ currentTerm' = [currentTerm EXCEPT ![i] = @ + 1]
    /\ votedFor' = [votedFor EXCEPT ![i] = i]
    /\ SetRole(i, "Candidate")
    /\ granted' = [granted EXCEPT ![i] = {i}]
    /\ refused' = [refused EXCEPT ![i] = {}]
    /\ UNCHANGED <<log, commitIndex, matchIndex, messages, elected>>

RequestVote(i, j) ==
    /\ role[i] = "Candidate"
    /\ i # j
    /\ Send([type |-> "RequestVote", from |-> i, to |-> j, term |-> currentTerm[i],
             lastIndex |-> Len(log[i]), lastTerm |-> LastTerm(log[i])])
    /\ UNCHANGED <<persistent, role, tally, matchIndex, elected>>

\* Whether the log that m describes has everything that may be committed in the log of i.
IsUpToDate(m, i) ==
    \/ m.lastTerm > LastTerm(log[i])
    \/ m.lastTerm = LastTerm(log[i]) /\ m.lastIndex >= Len(log[i])

\* A server that knows the leader of the term refuses, even if it has not voted.
HandleRequestVote(m, grant) ==
    LET i == m.to
        vote == IF IsNewer(m) THEN Nil ELSE votedFor[i]
        may == vote \in {Nil, m.from} /\ IsUpToDate(m, i)
    IN
    /\ m.type = "RequestVote"
    /\ IsCurrent(m)
    /\ grant => may
    /\ may /\ ~grant => ~IsNewer(m) /\ votedFor[i] = Nil
    /\ currentTerm' = [currentTerm EXCEPT ![i] = m.term]
    /\ votedFor' = [votedFor EXCEPT ![i] = IF grant THEN m.from ELSE vote]
    /\ IF IsNewer(m) THEN BecomeFollower(i) ELSE KeepRole
    /\ Reply(m, [type |-> "RequestVoteResponse", from |-> i, to |-> m.from, term |-> m.term, granted |-> grant])
    /\ UNCHANGED <<log, commitIndex, elected>>

\* A candidate whom a quorum refuses gives up.
HandleRequestVoteResponse(m) ==
    LET i == m.to
        refusals == refused[i] \cup {m.from}
    IN
    /\ m.type = "RequestVoteResponse"
    /\ IsCurrent(m)
    /\ Learn(i, m)
    /\ IF IsNewer(m) \/ (role[i] = "Candidate" /\ ~m.granted /\ IsQuorum(refusals)) THEN
           BecomeFollower(i)
       ELSE IF role[i] = "Candidate" THEN
           /\ granted' = [granted EXCEPT ![i] = IF m.granted THEN @ \cup {m.from} ELSE @]
           /\ refused' = [refused EXCEPT ![i] = IF m.granted THEN @ ELSE refusals]
           /\ UNCHANGED <<role, matchIndex>>
       ELSE KeepRole
    /\ Consume(m)
    /\ UNCHANGED <<log, commitIndex, elected>>

BecomeLeader(i) ==
    /\ role[i] = "Candidate"
    /\ IsQuorum(granted[i])
    /\ SetRole(i, "Leader")
    /\ ClearTally(i)
    /\ ClearMatch(i)
    /\ log' = [log EXCEPT ![i] = Append(@, [term |-> currentTerm[i], value |-> NoOp])]
    /\ elected' = elected \cup {<<currentTerm[i], i>>}
    /\ UNCHANGED <<currentTerm, votedFor, commitIndex, messages>>

-----------------------------------------------------------------------------
\* Replication.

ClientRequest(i, v) ==
    /\ role[i] = "Leader"
    /\ log' = [log EXCEPT ![i] = Append(@, [term |-> currentTerm[i], value |-> v])]
    /\ UNCHANGED <<currentTerm, votedFor, commitIndex, role, tally, matchIndex, messages, elected>>

\* The leader i sends its entries after prev, up to last.  Which ones it tries is up to the implementation.
AppendEntries(i, j, prev, last) ==
    /\ role[i] = "Leader"
    /\ i # j
    /\ prev <= last
    /\ last <= Len(log[i])
    /\ Send([type |-> "AppendEntries", from |-> i, to |-> j, term |-> currentTerm[i],
             prevIndex |-> prev, prevTerm |-> TermAt(log[i], prev),
             entries |-> SubSeq(log[i], prev + 1, last), commit |-> commitIndex[i]])
    /\ UNCHANGED <<persistent, role, tally, matchIndex, elected>>

\* The entries of i after it received those of m: unchanged if it has them all.
Merged(i, m) ==
    LET agrees(k) ==
            /\ m.prevIndex + k <= Len(log[i])
            /\ log[i][m.prevIndex + k].term = m.entries[k].term
    IN IF \A k \in 1..Len(m.entries) : agrees(k) THEN log[i] ELSE SubSeq(log[i], 1, m.prevIndex) \o m.entries

\* Committed entries are never compared: i confirms them all.
HandleAppendEntries(m) ==
    LET i == m.to
        isOld == m.prevIndex < commitIndex[i]
        isNext == m.prevIndex <= Len(log[i]) /\ TermAt(log[i], m.prevIndex) = m.prevTerm
        last == m.prevIndex + Len(m.entries)
        response(success, index) ==
            [type |-> "AppendEntriesResponse", from |-> i, to |-> m.from, term |-> m.term,
             success |-> success, index |-> index]
    IN
    /\ m.type = "AppendEntries"
    /\ IsCurrent(m)
    /\ role[i] = "Leader" => IsNewer(m)
    /\ Learn(i, m)
    /\ BecomeFollower(i)
    /\ IF isOld THEN
           /\ Reply(m, response(TRUE, commitIndex[i]))
           /\ UNCHANGED <<log, commitIndex>>
       ELSE IF isNext THEN
           /\ Reply(m, response(TRUE, last))
           /\ log' = [log EXCEPT ![i] = Merged(i, m)]
           /\ commitIndex' = [commitIndex EXCEPT ![i] = Max(@, Min(m.commit, last))]
       ELSE
           /\ Reply(m, response(FALSE, m.prevIndex))
           /\ UNCHANGED <<log, commitIndex>>
    /\ UNCHANGED elected

HandleAppendEntriesResponse(m) ==
    LET i == m.to IN
    /\ m.type = "AppendEntriesResponse"
    /\ IsCurrent(m)
    /\ Learn(i, m)
    /\ IF IsNewer(m) THEN
           BecomeFollower(i)
       ELSE IF role[i] = "Leader" /\ m.success THEN
           /\ matchIndex' = [matchIndex EXCEPT ![i][m.from] = Max(@, m.index)]
           /\ UNCHANGED <<role, tally>>
       ELSE KeepRole
    /\ Consume(m)
    /\ UNCHANGED <<log, commitIndex, elected>>

\* A leader commits only entries of its own term, and with them all entries before.
AdvanceCommit(i, index) ==
    /\ role[i] = "Leader"
    /\ commitIndex[i] < index
    /\ index <= Len(log[i])
    /\ log[i][index].term = currentTerm[i]
    /\ IsQuorum({i} \cup {j \in Server : matchIndex[i][j] >= index})
    /\ commitIndex' = [commitIndex EXCEPT ![i] = index]
    /\ UNCHANGED <<currentTerm, votedFor, log, role, tally, matchIndex, messages, elected>>

Heartbeat(i, j) ==
    /\ role[i] = "Leader"
    /\ i # j
    /\ Send([type |-> "Heartbeat", from |-> i, to |-> j, term |-> currentTerm[i],
             commit |-> Min(commitIndex[i], matchIndex[i][j])])
    /\ UNCHANGED <<persistent, role, tally, matchIndex, elected>>

HandleHeartbeat(m) ==
    LET i == m.to IN
    /\ m.type = "Heartbeat"
    /\ IsCurrent(m)
    /\ role[i] = "Leader" => IsNewer(m)
    /\ Learn(i, m)
    /\ BecomeFollower(i)
    /\ commitIndex' = [commitIndex EXCEPT ![i] = Max(@, m.commit)]
    /\ Reply(m, [type |-> "HeartbeatResponse", from |-> i, to |-> m.from, term |-> m.term])
    /\ UNCHANGED <<log, elected>>

HandleHeartbeatResponse(m) ==
    LET i == m.to IN
    /\ m.type = "HeartbeatResponse"
    /\ IsCurrent(m)
    /\ Learn(i, m)
    /\ IF IsNewer(m) THEN BecomeFollower(i) ELSE KeepRole
    /\ Consume(m)
    /\ UNCHANGED <<log, commitIndex, elected>>

-----------------------------------------------------------------------------
\* Faults.

IgnoreStale(m) ==
    /\ ~IsCurrent(m)
    /\ Consume(m)
    /\ UNCHANGED <<persistent, role, tally, matchIndex, elected>>

DropMessage(m) ==
    /\ Consume(m)
    /\ UNCHANGED <<persistent, role, tally, matchIndex, elected>>

Restart(i) ==
    /\ BecomeFollower(i)
    /\ UNCHANGED <<persistent, messages, elected>>

-----------------------------------------------------------------------------

Receive(m) ==
    \/ \E grant \in BOOLEAN : HandleRequestVote(m, grant)
    \/ HandleRequestVoteResponse(m)
    \/ HandleAppendEntries(m)
    \/ HandleAppendEntriesResponse(m)
    \/ HandleHeartbeat(m)
    \/ HandleHeartbeatResponse(m)
    \/ IgnoreStale(m)
    \/ DropMessage(m)

Next ==
    \/ \E i \in Server :
        \/ Timeout(i)
        \/ BecomeLeader(i)
        \/ Restart(i)
        \/ \E v \in Value : ClientRequest(i, v)
        \/ \E index \in 1..Len(log[i]) : AdvanceCommit(i, index)
        \/ \E j \in Server :
            \/ RequestVote(i, j)
            \/ Heartbeat(i, j)
            \/ \E prev, last \in 0..Len(log[i]) : AppendEntries(i, j, prev, last)
    \/ \E m \in DOMAIN messages : Receive(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Invariants.

\* At most one leader is elected in a term.
ElectionSafety == \A a, b \in elected : a[1] = b[1] => a = b

\* Logs that have an entry of the same term at the same index agree up to there.
LogMatching ==
    \A i, j \in Server : \A k \in 1..Min(Len(log[i]), Len(log[j])) :
        log[i][k].term = log[j][k].term => SubSeq(log[i], 1, k) = SubSeq(log[j], 1, k)

\* The log of a leader has every entry committed in an earlier term, or in its own.
LeaderCompleteness ==
    \A i, j \in Server :
        role[i] = "Leader" /\ currentTerm[i] >= currentTerm[j] =>
            /\ commitIndex[j] <= Len(log[i])
            /\ SubSeq(log[i], 1, commitIndex[j]) = SubSeq(log[j], 1, commitIndex[j])

\* Servers agree on committed entries.
StateMachineSafety ==
    \A i, j \in Server :
        LET k == Min(commitIndex[i], commitIndex[j]) IN SubSeq(log[i], 1, k) = SubSeq(log[j], 1, k)

CommitInLog == \A i \in Server : commitIndex[i] <= Len(log[i])

=============================================================================
