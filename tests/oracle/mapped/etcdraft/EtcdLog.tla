---- MODULE EtcdLog ----
(* What the messages in the log of etcd's raft are in the specification. *)
EXTENDS etcdraft, TLC

Kind == [MsgApp |-> AppendEntriesRequest, MsgHeartbeat |-> AppendEntriesRequest, MsgSnap |-> AppendEntriesRequest,
         MsgAppResp |-> AppendEntriesResponse, MsgHeartbeatResp |-> AppendEntriesResponse,
         MsgVote |-> RequestVoteRequest, MsgVoteResp |-> RequestVoteResponse]
Sub(t) == CASE t \in {"MsgApp", "MsgAppResp"} -> "app" [] t = "MsgSnap" -> "snapshot" [] OTHER -> "heartbeat"

\* The message m of the specification is the message g of the log.
Is(m, g) ==
    /\ m.mtype = Kind[g.type] /\ m.msource = g.from /\ m.mdest = g.to /\ m.mterm = g.term
    /\ CASE m.mtype = AppendEntriesRequest ->
              /\ m.msubtype = Sub(g.type) /\ Len(m.mentries) = g.entries
              /\ m.msubtype # "snapshot" => m.mcommitIndex = g.commit
              /\ m.msubtype # "heartbeat" => m.mprevLogTerm = g.logTerm /\ m.mprevLogIndex = g.index
         [] m.mtype = AppendEntriesResponse ->
              /\ m.msubtype = Sub(g.type) /\ m.msuccess = ~g.reject
              /\ (~g.reject /\ m.msubtype # "heartbeat") => m.mmatchIndex = g.index
         [] m.mtype = RequestVoteRequest -> m.mlastLogIndex = g.index /\ m.mlastLogTerm = g.logTerm
         [] m.mtype = RequestVoteResponse -> m.mvoteGranted = ~g.reject

Count(bag, m) == IF m \in DOMAIN bag THEN bag[m] ELSE 0
Sent(g) == \E m \in DOMAIN pendingMessages' : Is(m, g) /\ Count(pendingMessages', m) = Count(pendingMessages, m) + 1
Consumed(m) == Count(messages', m) = Count(messages, m) - 1
\* The event follows from the receipt before it: a newer term, or a leader of the same term.
Follows(p, e) ==
    /\ p.name \in {"ReceiveAppendEntriesRequest", "ReceiveAppendEntriesResponse", "ReceiveRequestVoteRequest",
                    "ReceiveRequestVoteResponse", "ReceiveSnapshot"}
    /\ p.msg.term = e.state.term
    /\ \/ p.state.term < p.msg.term
       \/ p.name = "ReceiveAppendEntriesRequest" /\ p.state.term = p.msg.term /\ p.role = Candidate
Conf(e) == IF e.name = "ApplyConfChange" THEN ToSet(e.prop.cc.newconf) ELSE ToSet(e.conf[1])
Entry(e) == [term |-> 1, type |-> "ConfigEntry", value |-> [newconf |-> Conf(e), learners |-> {}]]
Config(e) == [jointConfig |-> <<Conf(e), {}>>, learners |-> {}]
====
