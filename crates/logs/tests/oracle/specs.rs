//! The specifications that random logs are made from.
//!
//! Each comes with a reading of its own expressions in Rust, so that the oracle evaluates conditions without TLA+.

use crate::plain::Plain;

/// A number that a state has.
type Measure = fn(&[Plain]) -> i64;

/// A condition on a state.
type Test = fn(&[Plain]) -> bool;

/// A specification and the parts of mappings that fit it.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// Configurations, of which each log uses one.
    pub(crate) configs: &'static [&'static str],
    /// Actions with the values of their parameters.
    pub(crate) actions: &'static [Action],
    /// The variables, in the order of declaration.
    pub(crate) variables: &'static [&'static str],
    /// Operators that are not part of `Next`.
    pub(crate) free: &'static [&'static str],
    /// Conditions on a state.
    pub(crate) conditions: &'static [Condition],
    /// An expression for a number in a state, with and without a prime.
    pub(crate) measure: (&'static str, &'static str, Measure),
    /// Actions that may be missing in a log.
    pub(crate) unlogged: &'static [&'static str],
    /// Sequences of actions, each with the name of its event.
    pub(crate) sequences: &'static [(&'static str, &'static [&'static str])],
    /// Repeated actions, each with the name of its event.
    pub(crate) repeated: &'static [(&'static str, &'static str)],
    /// A condition on the initial state.
    pub(crate) init: Option<(&'static str, &'static str, Test)>,
}

impl Spec {
    pub(crate) fn has_param(&self, action: &str, param: &str) -> bool {
        let of = self.actions.iter().find(|known| known.name == action);
        of.is_some_and(|known| known.params.iter().any(|(name, _)| *name == param))
    }
}

pub(crate) struct Action {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [(&'static str, &'static [&'static str])],
}

/// A condition on a state: an expression, which may read the field `who` of the event.
pub(crate) struct Condition {
    pub(crate) left: &'static str,
    pub(crate) value: fn(&[Plain], &Plain) -> Option<Plain>,
    pub(crate) needs_who: bool,
    /// Whether its value is a set, which a log has as an array.
    pub(crate) is_set: bool,
    /// Words of the log with the values that each may stand for.
    pub(crate) one_of: &'static [(&'static str, &'static [&'static str])],
}

impl Condition {
    const fn new(left: &'static str, value: fn(&[Plain], &Plain) -> Option<Plain>) -> Condition {
        Condition { left, value, needs_who: false, is_set: false, one_of: &[] }
    }

    const fn of_set(left: &'static str, value: fn(&[Plain], &Plain) -> Option<Plain>) -> Condition {
        Condition { left, value, needs_who: false, is_set: true, one_of: &[] }
    }

    const fn of_who(left: &'static str, value: fn(&[Plain], &Plain) -> Option<Plain>) -> Condition {
        Condition { left, value, needs_who: true, is_set: false, one_of: &[] }
    }
}

const fn action(name: &'static str, params: &'static [(&'static str, &'static [&'static str])]) -> Action {
    Action { name, params }
}

const MANAGERS: &[&str] = &["r1", "r2", "r3"];
const CLIENTS: &[&str] = &["a", "b", "c"];
const NODES: &[&str] = &["n1", "n2", "n3"];
const KEYS: &[&str] = &["k1", "k2"];
const VALUES: &[&str] = &["x", "y"];
const TRANSACTIONS: &[&str] = &["t1", "t2"];
const NAMES: &[&str] = &["a", "bb", "cc", "d"];
const NUMBERS: &[&str] = &["1", "2"];

pub(crate) const SPECS: [Spec; 6] = [
    // Resource managers are interchangeable.
    Spec {
        name: "TwoPhase",
        text: r#"
---- MODULE TwoPhase ----
EXTENDS FiniteSets, Integers
CONSTANT RM
VARIABLES rmState, tmState, tmPrepared, msgs

Init == /\ rmState = [r \in RM |-> "working"]
        /\ tmState = "init"
        /\ tmPrepared = {}
        /\ msgs = {}

Prepare(r) == /\ rmState[r] = "working"
              /\ rmState' = [rmState EXCEPT ![r] = "prepared"]
              /\ msgs' = msgs \cup {[type |-> "Prepared", rm |-> r]}
              /\ UNCHANGED <<tmState, tmPrepared>>
GiveUp(r) == /\ rmState[r] = "working"
             /\ rmState' = [rmState EXCEPT ![r] = "aborted"]
             /\ UNCHANGED <<tmState, tmPrepared, msgs>>
Hear(r) == /\ tmState = "init"
           /\ r \notin tmPrepared
           /\ [type |-> "Prepared", rm |-> r] \in msgs
           /\ tmPrepared' = tmPrepared \cup {r}
           /\ UNCHANGED <<rmState, tmState, msgs>>
Commit == /\ tmState = "init"
          /\ tmPrepared = RM
          /\ tmState' = "committed"
          /\ msgs' = msgs \cup {[type |-> "Commit", rm |-> "all"]}
          /\ UNCHANGED <<rmState, tmPrepared>>
Abort == /\ tmState = "init"
         /\ tmState' = "aborted"
         /\ msgs' = msgs \cup {[type |-> "Abort", rm |-> "all"]}
         /\ UNCHANGED <<rmState, tmPrepared>>
Follow(r) == /\ \/ /\ [type |-> "Commit", rm |-> "all"] \in msgs
                   /\ rmState[r] = "prepared"
                   /\ rmState' = [rmState EXCEPT ![r] = "committed"]
                \/ /\ [type |-> "Abort", rm |-> "all"] \in msgs
                   /\ rmState[r] # "aborted"
                   /\ rmState' = [rmState EXCEPT ![r] = "aborted"]
             /\ UNCHANGED <<tmState, tmPrepared, msgs>>

Next == Commit \/ Abort \/ \E r \in RM : Prepare(r) \/ GiveUp(r) \/ Hear(r) \/ Follow(r)
===="#,
        configs: &[r#"INIT Init NEXT Next CONSTANT RM = {"r1", "r2", "r3"}"#],
        actions: &[
            action("Prepare", &[("r", MANAGERS)]),
            action("GiveUp", &[("r", MANAGERS)]),
            action("Hear", &[("r", MANAGERS)]),
            action("Follow", &[("r", MANAGERS)]),
            action("Commit", &[]),
            action("Abort", &[]),
        ],
        variables: &["rmState", "tmState", "tmPrepared", "msgs"],
        free: &[],
        conditions: &[
            Condition::new("tmState", |state, _| Some(state[1].clone())),
            Condition::of_set("tmPrepared", |state, _| Some(state[2].clone())),
            Condition::new("Cardinality(msgs)", |state, _| Some(Plain::Int(state[3].len()))),
            Condition::of_who("rmState[e.who]", |state, who| state[0].at(who).cloned()),
        ],
        measure: ("Cardinality(msgs)", "Cardinality(msgs')", |state| state[3].len()),
        unlogged: &["Hear", "Follow", "GiveUp"],
        sequences: &[("PrepareAndHear", &["Prepare", "Hear"])],
        repeated: &[("PrepareSome", "Prepare"), ("HearSome", "Hear")],
        init: None,
    },
    // Clients are interchangeable, except for an operator that is not part of `Next`.
    Spec {
        name: "Lock",
        text: r#"
---- MODULE Lock ----
EXTENDS Sequences, Integers
CONSTANT Client
VARIABLES owner, queue, uses

Waiting == {queue[i] : i \in DOMAIN queue}

Init == owner = "none" /\ queue = <<>> /\ uses = 0

Request(c) == /\ c # owner
              /\ c \notin Waiting
              /\ queue' = Append(queue, c)
              /\ UNCHANGED <<owner, uses>>
Grant(c) == /\ owner = "none"
            /\ queue # <<>>
            /\ c = Head(queue)
            /\ owner' = c
            /\ queue' = Tail(queue)
            /\ UNCHANGED uses
Release(c) == /\ owner = c
              /\ owner' = "none"
              /\ uses' = IF uses = 2 THEN 0 ELSE uses + 1
              /\ UNCHANGED queue
Leave(c) == /\ c \in Waiting
            /\ LET Other(x) == x # c IN queue' = SelectSeq(queue, Other)
            /\ UNCHANGED <<owner, uses>>
Reset == uses # 0 /\ uses' = 0 /\ UNCHANGED <<owner, queue>>
Yield == owner = "c" /\ owner' = "none" /\ uses' = 0 /\ UNCHANGED queue

Next == Reset \/ \E c \in Client : Request(c) \/ Grant(c) \/ Release(c) \/ Leave(c)
===="#,
        configs: &[r#"INIT Init NEXT Next CONSTANT Client = {"a", "b", "c"}"#],
        actions: &[
            action("Request", &[("c", CLIENTS)]),
            action("Grant", &[("c", CLIENTS)]),
            action("Release", &[("c", CLIENTS)]),
            action("Leave", &[("c", CLIENTS)]),
            action("Reset", &[]),
        ],
        variables: &["owner", "queue", "uses"],
        free: &["Yield"],
        conditions: &[
            Condition::new("owner", |state, _| Some(state[0].clone())),
            Condition::new("queue[1]", |state, _| state[1].at(&Plain::Int(1)).cloned()),
            Condition {
                left: "owner",
                value: |state, _| Some(state[0].clone()),
                needs_who: false,
                is_set: false,
                one_of: &[("free", &["none"]), ("first", &["a"]), ("held", &["a", "b", "c"]), ("last", &["c"])],
            },
            Condition::of_who("owner = e.who", |state, who| Some(Plain::Bool(state[0] == *who))),
        ],
        measure: ("Len(queue)", "Len(queue')", |state| state[1].len()),
        unlogged: &["Reset", "Leave", "Grant"],
        sequences: &[("GrantAndRelease", &["Grant", "Release"]), ("GrantAndYield", &["Grant", "Yield"])],
        repeated: &[("RequestSome", "Request"), ("LeaveSome", "Leave")],
        init: None,
    },
    // Integers, and two initial states.
    Spec {
        name: "Queue",
        text: r#"
---- MODULE Queue ----
EXTENDS Sequences, Integers
CONSTANT Val
VARIABLES queue, lost, last

Init == queue = <<>> /\ lost = 0 /\ last \in Val

Put(v) == Len(queue) < 3 /\ queue' = Append(queue, v) /\ UNCHANGED <<lost, last>>
Get(v) == queue # <<>> /\ v = Head(queue) /\ queue' = Tail(queue) /\ last' = v /\ UNCHANGED lost
Lose == queue # <<>> /\ lost < 2 /\ queue' = Tail(queue) /\ lost' = lost + 1 /\ UNCHANGED last
Exchange == /\ Len(queue) >= 2
            /\ queue' = <<queue[2], queue[1]>> \o SubSeq(queue, 3, Len(queue))
            /\ UNCHANGED <<lost, last>>
Peek(v) == queue # <<>> /\ v = Head(queue) /\ UNCHANGED <<queue, lost, last>>

Next == Lose \/ Exchange \/ \E v \in Val : Put(v) \/ Get(v) \/ Peek(v)
===="#,
        configs: &["INIT Init NEXT Next CONSTANT Val = {1, 2}"],
        actions: &[
            action("Put", &[("v", NUMBERS)]),
            action("Get", &[("v", NUMBERS)]),
            action("Peek", &[("v", NUMBERS)]),
            action("Lose", &[]),
            action("Exchange", &[]),
        ],
        variables: &["queue", "lost", "last"],
        free: &[],
        conditions: &[
            Condition::new("queue[2]", |state, _| state[0].at(&Plain::Int(2)).cloned()),
            Condition::new("Len(queue)", |state, _| Some(Plain::Int(state[0].len()))),
            Condition::new("last", |state, _| Some(state[2].clone())),
        ],
        measure: ("lost", "lost'", |state| state[1].int()),
        unlogged: &["Lose", "Exchange", "Put"],
        sequences: &[("PutAndGet", &["Put", "Get"])],
        repeated: &[("PutSome", "Put"), ("GetSome", "Get")],
        init: Some(("last", "1", |state| state[2] == Plain::Int(1))),
    },
    // Three sets of interchangeable values.
    Spec {
        name: "Store",
        text: r#"
---- MODULE Store ----
EXTENDS FiniteSets, Integers
CONSTANTS Key, Val, Tx
VARIABLES store, open, local

Init == /\ store = [k \in Key |-> "nil"]
        /\ open = {}
        /\ local = [t \in Tx |-> [k \in Key |-> "nil"]]

Open(t) == /\ t \notin open
           /\ open' = open \cup {t}
           /\ local' = [local EXCEPT ![t] = store]
           /\ UNCHANGED store
Write(t, k, v) == /\ t \in open
                  /\ local[t][k] # v
                  /\ local' = [local EXCEPT ![t][k] = v]
                  /\ UNCHANGED <<store, open>>
Commit(t) == /\ t \in open
             /\ store' = local[t]
             /\ open' = open \ {t}
             /\ UNCHANGED local
Rollback(t) == t \in open /\ open' = open \ {t} /\ UNCHANGED <<store, local>>

Next == \E t \in Tx : Open(t) \/ Commit(t) \/ Rollback(t) \/ \E k \in Key, v \in Val : Write(t, k, v)
===="#,
        configs: &[r#"INIT Init NEXT Next CONSTANTS Key = {"k1", "k2"} Val = {"x", "y"} Tx = {"t1", "t2"}"#],
        actions: &[
            action("Open", &[("t", TRANSACTIONS)]),
            action("Write", &[("t", TRANSACTIONS), ("k", KEYS), ("v", VALUES)]),
            action("Commit", &[("t", TRANSACTIONS)]),
            action("Rollback", &[("t", TRANSACTIONS)]),
        ],
        variables: &["store", "open", "local"],
        free: &[],
        conditions: &[
            Condition::of_set("open", |state, _| Some(state[1].clone())),
            Condition::of_who("local[e.who]", |state, who| state[2].at(who).cloned()),
            Condition::new("store[\"k1\"]", |state, _| state[0].at(&Plain::str("k1")).cloned()),
            Condition::new("store", |state, _| Some(state[0].clone())),
        ],
        measure: ("Cardinality(open)", "Cardinality(open')", |state| state[1].len()),
        unlogged: &["Open", "Write", "Rollback"],
        sequences: &[("OpenAndWrite", &["Open", "Write"]), ("WriteAndCommit", &["Write", "Commit"])],
        repeated: &[("OpenSome", "Open"), ("WriteSome", "Write")],
        init: None,
    },
    // One node differs from the others, by a constant, a literal or a choice.
    Spec {
        name: "Ring",
        text: r#"
---- MODULE Ring ----
EXTENDS FiniteSets, Integers
CONSTANTS Node, First
VARIABLES token, active, inbox

Literal == "n2"
Chosen == CHOOSE n \in Node : TRUE

Init == /\ token \in Node
        /\ active = [n \in Node |-> TRUE]
        /\ inbox = [n \in Node |-> {}]

Pass(n, m) == /\ token = n
              /\ ~active[n]
              /\ m # n
              /\ token' = m
              /\ UNCHANGED <<active, inbox>>
Send(n, m) == /\ active[n]
              /\ n # m
              /\ n \notin inbox[m]
              /\ inbox' = [inbox EXCEPT ![m] = @ \cup {n}]
              /\ UNCHANGED <<token, active>>
Receive(n, m) == /\ m \in inbox[n]
                 /\ inbox' = [inbox EXCEPT ![n] = @ \ {m}]
                 /\ active' = [active EXCEPT ![n] = TRUE]
                 /\ UNCHANGED token
Idle(n) == /\ active[n]
           /\ active' = [active EXCEPT ![n] = FALSE]
           /\ UNCHANGED <<token, inbox>>
Restart == /\ token = First
           /\ \E n \in Node : ~active[n]
           /\ active' = [n \in Node |-> TRUE]
           /\ UNCHANGED <<token, inbox>>

Next == Restart \/ \E n \in Node : Idle(n) \/ \E m \in Node : Pass(n, m) \/ Send(n, m) \/ Receive(n, m)
===="#,
        configs: &[
            r#"INIT Init NEXT Next CONSTANTS Node = {"n1", "n2", "n3"} First = "n2""#,
            r#"INIT Init NEXT Next CONSTANTS Node = {"n1", "n2", "n3"} First <- Literal"#,
            r#"INIT Init NEXT Next CONSTANTS Node = {"n1", "n2", "n3"} First <- Chosen"#,
        ],
        actions: &[
            action("Pass", &[("n", NODES), ("m", NODES)]),
            action("Send", &[("n", NODES), ("m", NODES)]),
            action("Receive", &[("n", NODES), ("m", NODES)]),
            action("Idle", &[("n", NODES)]),
            action("Restart", &[]),
        ],
        variables: &["token", "active", "inbox"],
        free: &[],
        conditions: &[
            Condition::new("Cardinality({n \\in Node : active[n]})", |state, _| {
                let Plain::Fun(active) = &state[1] else { panic!("a function") };
                let count = active.values().filter(|value| **value == Plain::Bool(true)).count();
                Some(Plain::Int(i64::try_from(count).expect("small")))
            }),
            Condition::new("token", |state, _| Some(state[0].clone())),
            Condition {
                left: "inbox[e.who]",
                value: |state, who| state[2].at(who).cloned(),
                needs_who: true,
                is_set: true,
                one_of: &[],
            },
        ],
        measure: ("Cardinality(inbox[token])", "Cardinality(inbox'[token'])", |state| {
            state[2].at(&state[0]).expect("a node").len()
        }),
        unlogged: &["Idle", "Send", "Restart"],
        sequences: &[("IdleAndPass", &["Idle", "Pass"])],
        repeated: &[("IdleSome", "Idle"), ("SendSome", "Send")],
        init: Some(("token", "\"n2\"", |state| state[0] == Plain::str("n2"))),
    },
    // Strings are taken apart.
    Spec {
        name: "Names",
        text: r#"
---- MODULE Names ----
EXTENDS Sequences, Integers
CONSTANT Name
VARIABLES held, last, joined

Init == held = {} /\ last = "none" /\ joined = <<>>

Take(n) == n \notin held /\ held' = held \cup {n} /\ last' = n /\ UNCHANGED joined
Drop(n) == n \in held /\ Len(n) = 2 /\ held' = held \ {n} /\ UNCHANGED <<last, joined>>
Join(n) == /\ n \in held
           /\ Len(joined) < 2
           /\ joined' = Append(joined, SubSeq(last, 1, 1) \o n)
           /\ UNCHANGED <<held, last>>
Shorten(n) == n \in held /\ last = n /\ Len(n) > 1 /\ last' = Tail(n) /\ UNCHANGED <<held, joined>>
Forget == joined # <<>> /\ joined' = Tail(joined) /\ UNCHANGED <<held, last>>

Next == Forget \/ \E n \in Name : Take(n) \/ Drop(n) \/ Join(n) \/ Shorten(n)
===="#,
        configs: &[r#"INIT Init NEXT Next CONSTANT Name = {"a", "bb", "cc", "d"}"#],
        actions: &[
            action("Take", &[("n", NAMES)]),
            action("Drop", &[("n", NAMES)]),
            action("Join", &[("n", NAMES)]),
            action("Shorten", &[("n", NAMES)]),
            action("Forget", &[]),
        ],
        variables: &["held", "last", "joined"],
        free: &[],
        conditions: &[
            Condition::of_set("held", |state, _| Some(state[0].clone())),
            Condition::new("last", |state, _| Some(state[1].clone())),
            Condition::new("joined[1]", |state, _| state[2].at(&Plain::Int(1)).cloned()),
            Condition::of_who("e.who \\in held", |state, who| {
                let Plain::Set(held) = &state[0] else { panic!("a set") };
                Some(Plain::Bool(held.contains(who)))
            }),
        ],
        measure: ("Len(joined)", "Len(joined')", |state| state[2].len()),
        unlogged: &["Take", "Drop", "Forget"],
        sequences: &[("TakeAndJoin", &["Take", "Join"])],
        repeated: &[("TakeSome", "Take"), ("DropSome", "Drop")],
        init: None,
    },
];
