//! The content of a report's text, before a renderer decides its form.
//!
//! A [`Finding`] is a sentence, marks in the specification, and notes. Text, Markdown, annotations and SARIF are all
//! made from it. Reasons that hold in different states are combined by the place they point at, so that a conjunct is
//! marked once, with the number of states that make it false and with every value it had there.

use crate::data::{
    Assumption, Broken, Command, Conjunct, Consequence, Evidence, Field, Guard, Legal, Level, Missed, OpRef, Outcome,
    Reason, Rejection, Report, Span, State, Stuck, Verdict, Views, Why,
};
use crate::isolation::{Anomaly, Involved, Isolation, Precedes};
use crate::wording::{brief, clean, count, list, number, position, short, sorted};

/// The maximum width of a value within a sentence.
pub(crate) const VALUE: usize = 40;

/// The maximum number of values in a list of alternatives.
const ALTERNATIVES: usize = 4;

/// The maximum number of parts of a conjunct shown with their values.
const PARTS: usize = 4;

/// The maximum number of true conjuncts marked beside a false one.
const TRUE_SHOWN: usize = 3;

/// The most accesses of a transaction, and the maximum width of one, in a line of text.
const ACCESSES: usize = 8;
const ACCESS: usize = 60;

/// The text about a verdict that needs action.
#[derive(Debug)]
pub(crate) struct Finding {
    /// True if nothing was found to be wrong.
    pub(crate) is_warning: bool,
    /// In one sentence.
    pub(crate) title: String,
    /// Places in the specification, in order of place.
    pub(crate) marks: Vec<Mark>,
    /// Facts and help.
    pub(crate) notes: Vec<Note>,
}

/// A place in the specification, and its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Where.
    pub(crate) span: Span,
    /// True if it is the cause, not context.
    pub(crate) is_primary: bool,
    /// The text beside it.
    pub(crate) label: String,
}

/// A line below the marks.
#[derive(Debug, Clone)]
pub(crate) enum Note {
    /// A fact.
    Note(String),
    /// A verdict under an assumption, or what to do.
    Help(String),
}

impl Report {
    /// The number of operations and of processes, in the words for the history: transactions and sessions.
    pub(crate) fn sizes(&self) -> [String; 2] {
        let words = if self.isolation.is_some() { ["transaction", "session"] } else { ["operation", "process"] };
        let operations = self.history.operations.unwrap_or(self.stats.returned);
        [count(operations, words[0]), count(self.history.processes as u64, words[1])]
    }

    /// Why no order is legal, if the history is rejected.
    pub fn rejection(&self) -> Option<&Rejection> {
        if let Verdict::Rejected(rejection) = &self.verdict { Some(rejection) } else { None }
    }

    /// Where every order gets stuck, if that is the reason for a rejection.
    pub fn stuck(&self) -> Option<&Stuck> {
        if let Evidence::Stuck(stuck) = &self.rejection()?.evidence { Some(stuck) } else { None }
    }

    /// Whether the run failed although its operations are not rejected: it crashed, got stuck, or had a data race.
    pub fn has_failed(&self) -> bool {
        self.ended.is_some() && !matches!(self.verdict, Verdict::Rejected(_))
    }

    /// Whether it failed by a data race only.
    pub fn has_raced(&self) -> bool {
        self.has_failed() && self.ended.as_ref().is_some_and(|ended| ended.starts_with("data race"))
    }
}

impl Finding {
    /// The finding of a report; `None` for an accepted history of a run that did not fail.
    pub(crate) fn new(report: &Report) -> Option<Finding> {
        let mut finding = match &report.verdict {
            Verdict::Accepted | Verdict::Inconclusive { .. } if report.ended.is_some() => Finding::of_end(report)?,
            Verdict::Accepted => return None,
            Verdict::Rejected(rejection) => match &rejection.evidence {
                Evidence::Stuck(stuck) => Finding::of_stuck(report, rejection, stuck),
                Evidence::Contradiction { .. } => {
                    let title = clean(&rejection.sentence);
                    Finding { is_warning: false, title, marks: Vec::new(), notes: Vec::new() }
                }
                Evidence::Invariant(broken) => Finding::of_invariant(report, rejection, broken),
                Evidence::Views(views) => Finding::of_views(report, rejection, views),
                Evidence::Anomaly(anomaly) => Finding::of_anomaly(report, &rejection.sentence, anomaly),
            },
            Verdict::Inconclusive { stop, .. } => Finding::of_stop(report, stop),
        };
        if let Some(details) = report.rejection().map(|rejection| clean(&rejection.details)).filter(|d| !d.is_empty()) {
            finding.notes.insert(0, Note::Note(details));
        }
        if let (Verdict::Rejected(_), Some(ended)) = (&report.verdict, &report.ended) {
            finding.notes.push(Note::Note(format!("how the run ended: {}", clean(ended))));
        }
        finding.notes.extend(remarks(report).into_iter().map(Note::Note));
        finding.marks.retain(|mark| place(report, mark.span).is_some());
        finding.marks.sort_by_key(|mark| mark.span);
        Some(finding)
    }

    /// The first mark that is a cause.
    pub(crate) fn primary(&self) -> Option<&Mark> {
        self.marks.iter().find(|mark| mark.is_primary)
    }

    /// A run that failed, although its operations are legal or were not checked.
    fn of_end(report: &Report) -> Option<Finding> {
        let title = clean(report.ended.as_ref()?);
        let note = match &report.verdict {
            Verdict::Inconclusive { stop, .. } => format!("its operations have no verdict: {}", clean(stop)),
            _ => "an order of its operations is legal, which says nothing about this".to_owned(),
        };
        Some(Finding { is_warning: false, title, marks: Vec::new(), notes: vec![Note::Note(note)] })
    }

    fn of_stuck(report: &Report, rejection: &Rejection, stuck: &Stuck) -> Finding {
        let mut facts = Vec::new();
        let subject = rejection.subject();
        let against = |op: OpRef| stuck.reasons.iter().filter(move |reason| reason.op == op);
        let mut marks = subject.map(|op| marks(against(op), stuck.states.len())).unwrap_or_default();
        if let Some(subject) = subject {
            for reason in against(subject) {
                if let Some(note) = unmarked(report, stuck, reason) {
                    insert(&mut facts, &note);
                }
            }
            if marks.is_empty() {
                // The cause is an operation that blocks it.
                let others = stuck.reasons.iter().map(|reason| reason.op).filter(|&op| op != subject);
                let other = others.map(|op| (op, self::marks(against(op), stuck.states.len())));
                if let Some((op, found)) = other.into_iter().find(|(_, marks)| !marks.is_empty()) {
                    let name = clean(&report.op(op).name);
                    marks = found
                        .into_iter()
                        .map(|mark| Mark { label: format!("{name}: {}", mark.label), ..mark })
                        .collect();
                }
            }
        }
        facts.extend(expected(stuck));
        facts.extend(legal(report, &stuck.legal));
        let mut notes: Vec<Note> = facts.into_iter().map(Note::Note).collect();
        notes.extend(what_ifs(report, rejection, stuck, true).into_iter().map(Note::Help));
        Finding { is_warning: false, title: clean(&rejection.sentence), marks, notes }
    }

    fn of_invariant(report: &Report, rejection: &Rejection, broken: &Broken) -> Finding {
        let total = broken.states.len();
        let mut tallies = Tallies::new(total);
        for conjunct in &broken.conjuncts {
            tallies.add(conjunct);
        }
        let mut marks = tallies.marks();
        if !marks.iter().any(|mark| mark.is_primary) {
            let label = format!("FALSE{}", among(total, total));
            marks.push(Mark { span: broken.span, is_primary: true, label });
        }
        let mut notes = vec![Note::Note(explained_count(report, rejection.explained))];
        if let Some(&op) = rejection.blocked.first() {
            notes.push(Note::Note(format!("when {} returns, every order has broken it", op_text(report, op))));
        }
        Finding { is_warning: false, title: clean(&rejection.sentence), marks, notes }
    }

    fn of_views(report: &Report, rejection: &Rejection, views: &Views) -> Finding {
        let mut notes =
            vec![Note::Note(format!("the longest orders have {}", count(rejection.explained, "operation")))];
        for view in &views.views {
            let name = clean(&report.op(view.op).name);
            let ops = |ops: &[OpRef], all: usize| {
                let shown: Vec<String> = ops.iter().map(|&op| op_text(report, op)).collect();
                match all - shown.len() {
                    0 if shown.is_empty() => "nothing".to_owned(),
                    0 => shown.join(", "),
                    more => format!("{}, and {more} before", shown.join(", ")),
                }
            };
            notes.push(Note::Note(format!("{name} {}", view.sees)));
            notes.push(Note::Note(format!("{name} has to see: {}", ops(&view.must_see, view.must_see_count))));
            if view.may_miss_count > 0 {
                notes.push(Note::Note(format!("{name} may miss: {}", ops(&view.may_miss, view.may_miss_count))));
            }
            let states: Vec<String> = view.states.iter().map(|state| fields(&state.variables, " = ", VALUE)).collect();
            let states = match states.len() {
                0 => format!("there is no state that {name} may see"),
                1 => format!("{name} sees the state {}", states[0]),
                all => format!("{name} sees one of {all} states: {}", list(&states, "or", ALTERNATIVES)),
            };
            let why = view.why.as_ref().map(|why| format!(": {}", clean(why))).unwrap_or_default();
            notes.push(Note::Note(format!("{states}{why}")));
        }
        if let Some(level) = &views.holds {
            notes.push(Note::Help(format!("at the level `{}` the history is accepted", clean(level))));
        }
        Finding { is_warning: false, title: clean(&rejection.sentence), marks: Vec::new(), notes }
    }

    fn of_anomaly(report: &Report, sentence: &str, anomaly: &Anomaly) -> Finding {
        let of_txn = |txn: &Involved| {
            let mut accesses: Vec<String> =
                txn.accesses.iter().take(ACCESSES).map(|access| brief(&clean(access), ACCESS)).collect();
            if txn.has_more || txn.accesses.len() > ACCESSES {
                accesses.push("...".to_owned());
            }
            let op = report.op(txn.op);
            let text = accesses.join("  ");
            format!("{} is {}: {text} {}", clean(&txn.label), clean(&op.name), op.interval())
        };
        let label = |txn: usize| clean(&anomaly.transactions[txn].label);
        let of_edge = |edge: &Precedes| format!("{} → {}: {}", label(edge.from), label(edge.to), clean(&edge.reason));
        let mut notes: Vec<Note> = anomaly.transactions.iter().map(of_txn).map(Note::Note).collect();
        notes.extend(anomaly.edges.iter().map(of_edge).map(Note::Note));
        notes.extend(report.isolation.as_ref().and_then(Isolation::strongest_text).map(Note::Help));
        Finding { is_warning: false, title: clean(sentence), marks: Vec::new(), notes }
    }

    fn of_stop(report: &Report, stop: &str) -> Finding {
        let mut notes = Vec::new();
        if report.stats.returned > 0 {
            notes.push(Note::Note(explained_count(report, report.stats.returned)));
        }
        if let Some(widest) = &report.stats.widest {
            let at = widest.at.map(|op| format!(" when {} returned", op_text(report, op))).unwrap_or_default();
            let width = count(widest.width as u64, "configuration");
            notes.push(Note::Note(format!("widest{at}: {width} at once")));
            let unfinished = widest.in_flight.iter().filter(|&&op| report.op(op).end.is_none()).count();
            if !widest.in_flight.is_empty() {
                let in_flight: Vec<String> = widest.in_flight.iter().map(|&op| op_text(report, op)).collect();
                notes.push(Note::Note(format!("in flight there: {}", list(&in_flight, "and", 6))));
            }
            notes.push(Note::Help(match unfinished {
                0 => "fewer operations at once, or a larger limit, make it decidable".into(),
                1 => "1 of them is unfinished and may take effect at any time: record how it ended".into(),
                _ => format!(
                    "{unfinished} of them are unfinished and may take effect at any time: record how they ended"
                ),
            }));
        }
        Finding { is_warning: true, title: clean(stop), marks: Vec::new(), notes }
    }
}

/// The text of a span, if the span is valid.
pub(crate) fn place(report: &Report, span: Span) -> Option<&str> {
    report.sources.get(span.source)?.text.get(span.start..span.end)
}

/// The line and column, from 1, of a span's start and end. Columns count characters.
pub(crate) fn lines(report: &Report, span: Span) -> Option<[(usize, usize); 2]> {
    place(report, span)?;
    let text = &report.sources[span.source].text;
    Some([span.start, span.end].map(|at| position(text, at)))
}

/// An operation within a sentence: `T3:12 Dequeue(4)`.
pub(crate) fn op_text(report: &Report, op: OpRef) -> String {
    let op = report.op(op);
    format!("{} {}", short(&op.name, VALUE), short(&op.text, VALUE)).trim().to_owned()
}

/// An operation with its interval: `T3:12 Dequeue(4) [5 9]`.
fn timed(report: &Report, op: OpRef) -> String {
    format!("{} {}", op_text(report, op), report.op(op).interval())
}

/// Names and values: `elem: 4, ok: TRUE`.
pub(crate) fn fields(fields: &[Field], sign: &str, width: usize) -> String {
    let field = |field: &Field| match field.name.as_str() {
        "" => short(&field.value, width),
        name => format!("{}{sign}{}", short(name, width), short(&field.value, width)),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// The variables whose values differ between states.
pub(crate) fn differing(states: &[State]) -> Vec<&str> {
    let Some((first, rest)) = states.split_first() else { return Vec::new() };
    let is_same = |field: &&Field| rest.iter().all(|state| state.variables.contains(field));
    first.variables.iter().filter(|field| !is_same(field)).map(|field| field.name.as_str()).collect()
}

/// One reason, without the operation it is about.
pub(crate) fn why(report: &Report, stuck: &Stuck, reason: &Reason) -> String {
    let among = among(reason.states.len(), stuck.states.len());
    match &reason.why {
        Why::Time { after } => format!("must wait for {}, which returned before it began", timed(report, *after)),
        Why::Guard(_) => {
            let mut tallies = Tallies::new(stuck.states.len());
            tallies.add_reason(reason);
            let blame = tallies
                .blamed()
                .map(|tally| format!("`{}` is {}", short(&tally.text, VALUE), tally.label(tallies.total)));
            let blame: Vec<String> = blame.collect();
            if blame.is_empty() { format!("is not enabled{among}") } else { blame.join("; ") }
        }
        Why::Words { text } => {
            let states = reason.states.iter().filter_map(|&state| stuck.states.get(state));
            let states: Vec<String> = states.map(|state| fields(&state.variables, " = ", VALUE)).collect();
            format!("in state {}: {}", list(&states, "or", ALTERNATIVES), clean(text))
        }
        Why::Excluded { name, .. } => format!("`{}` excludes it{among}", clean(name)),
        Why::Error { message, .. } => format!("cannot be evaluated{among}: {}", clean(message)),
        Why::Dead => format!("is legal{among}, but no order that continues with it is"),
    }
}

/// The notes of every report.
pub(crate) fn remarks(report: &Report) -> Vec<String> {
    let cuts = report.history.cuts.iter().map(|cut| format!("the trace is cut off: {}", clean(cut)));
    let strongest = || report.isolation.as_ref().and_then(Isolation::strongest_text);
    let strongest = if report.rejection().is_none() { strongest() } else { None }; // A rejection has them as help.
    cuts.chain(report.level.iter().flat_map(|level| missed(report, level)))
        .chain(strongest)
        .chain(report.notes.iter().map(|note| clean(note)))
        .collect()
}

/// The operations that each operation missed.
fn missed(report: &Report, level: &Level) -> Vec<String> {
    let one = |missed: &Missed| {
        let others: Vec<String> = missed.missed.iter().map(|&op| op_text(report, op)).collect();
        format!("{} missed {}", op_text(report, missed.op), list(&others, "and", ALTERNATIVES))
    };
    let mut all: Vec<String> = level.missed.iter().map(one).collect();
    if level.missing > level.missed.len() {
        let more = number((level.missing - level.missed.len()) as u64);
        all.push(format!("{more} more operations missed others"));
    }
    all
}

/// The follow-up commands.
pub(crate) fn commands(report: &Report) -> Vec<(String, String)> {
    report.next.iter().map(|Command { what, line }| (clean(what), clean(line))).collect()
}

/// ` in 2 of 3 states`; nothing if there is only one.
pub(crate) fn among(some: usize, total: usize) -> String {
    match total {
        0 | 1 => String::new(),
        _ => format!(" in {} of {} states", number(some as u64), number(total as u64)),
    }
}

/// A reason as a note, if it has no place in the specification.
fn unmarked(report: &Report, stuck: &Stuck, reason: &Reason) -> Option<String> {
    match &reason.why {
        Why::Guard(guard) => ways(guard),
        Why::Excluded { .. } | Why::Error { span: Some(_), .. } => None,
        Why::Words { .. } => Some(why(report, stuck, reason)),
        Why::Time { .. } | Why::Error { span: None, .. } | Why::Dead => {
            Some(format!("it {}", why(report, stuck, reason)))
        }
    }
}

/// The way through an action that is shown, if there is a choice.
fn ways(guard: &Guard) -> Option<String> {
    let choices = match guard.choices.as_slice() {
        [] => String::new(),
        choices => format!(", with {}", fields(choices, " = ", VALUE)),
    };
    let action = clean(&guard.action);
    match guard.ways {
        0 | 1 if choices.is_empty() => None,
        0 | 1 => Some(format!("this is {action}{choices}")),
        ways => Some(format!(
            "{} through {action} fail; showing the one that gets furthest{choices}",
            count(ways as u64, "way")
        )),
    }
}

fn explained_count(report: &Report, explained: u64) -> String {
    match report.history.operations {
        Some(all) => format!("{} of {} explained", number(explained), count(all, "operation")),
        None => format!("{} explained", count(explained, "operation")),
    }
}

/// How far orders get.
pub(crate) fn explained(report: &Report, rejection: &Rejection, stuck: &Stuck) -> String {
    let explained = explained_count(report, rejection.explained);
    let mut waiting: Vec<OpRef> = stuck
        .reasons
        .iter()
        .filter(|reason| matches!(reason.why, Why::Time { after } if rejection.blocked == [after]))
        .map(|reason| reason.op)
        .collect();
    waiting.sort_unstable();
    waiting.dedup();
    match waiting.len() {
        0 => explained,
        1 => format!("{explained}; 1 more must wait for this one"),
        many => format!("{explained}; {} more must wait for this one", number(many as u64)),
    }
}

fn expected(stuck: &Stuck) -> Option<String> {
    let name = stuck.expected.first()?.first().map(|field| field.name.as_str()).unwrap_or_default();
    let is_value = |results: &Vec<Field>| matches!(results.as_slice(), [only] if only.name == name);
    let (name, alternatives): (String, Vec<String>) = if stuck.expected.iter().all(is_value) {
        let name = if name.is_empty() { String::new() } else { format!("{}: ", clean(name)) };
        let values: Vec<&str> = stuck.expected.iter().map(|results| results[0].value.as_str()).collect();
        (name, sorted(&values).into_iter().map(|value| short(value, VALUE)).collect())
    } else {
        let whole = |results: &Vec<Field>| format!("({})", fields(results, ": ", VALUE));
        (String::new(), stuck.expected.iter().map(whole).collect())
    };
    let alternatives = match stuck.expects_more {
        true => format!("{} or others", alternatives[..alternatives.len().min(ALTERNATIVES - 1)].join(", ")),
        false => list(&alternatives, "or", ALTERNATIVES),
    };
    Some(format!("expected {name}{alternatives}"))
}

/// When an operation would have been legal.
pub(crate) fn legal(report: &Report, legal: &Legal) -> Option<String> {
    match legal {
        Legal::Earlier { until } => Some(format!("stale: legal until {} took effect", timed(report, *until))),
        Legal::Later { after } => Some(format!("too early: legal once {} has taken effect", timed(report, *after))),
        Legal::Never { looked_at } => Some(format!(
            "at another time it is not legal either: tried among the {} before and after it",
            count(*looked_at, "operation")
        )),
        Legal::Unknown => None,
    }
}

/// Verdicts under other assumptions: those with which the history is accepted, or the others.
pub(crate) fn what_ifs(report: &Report, rejection: &Rejection, stuck: &Stuck, is_accepted: bool) -> Vec<String> {
    let sentence = |assumption: &Assumption, outcome: &Consequence| {
        let assumption = match assumption {
            Assumption::OtherResults { results } => format!("with {}", fields(results, ": ", VALUE)),
            Assumption::Dropped => "without it".into(),
            Assumption::ProgramOrder => "if only the order within each process counts,".into(),
            Assumption::EventDropped { event } => format!("without {},", op_text(report, *event)),
            Assumption::StepInserted { action, before } => {
                format!("if `{}` took place before {},", clean(action), op_text(report, *before))
            }
            Assumption::NotComplete { variable } => format!("if `{}` may change unlogged,", clean(variable)),
            Assumption::OtherField { event, field } => {
                format!("if {} had logged `{}`,", op_text(report, *event), clean(field))
            }
            Assumption::FieldIgnored { event, field } => {
                format!("without the condition `{}` on {},", clean(field), op_text(report, *event))
            }
            Assumption::Exchanged { first, second } => {
                format!("with {} after {},", op_text(report, *first), op_text(report, *second))
            }
        };
        let outcome = match outcome {
            Consequence::Accepted => "the history is accepted".into(),
            Consequence::Rejected { blocked: None, .. } => "the history is rejected all the same".into(),
            Consequence::Rejected { blocked: Some(op), explained } => {
                let later = match explained.checked_sub(rejection.explained) {
                    Some(0) => "right there".into(),
                    Some(later) => format!("{} later", count(later, "operation")),
                    None => format!("after {}", count(*explained, "operation")),
                };
                format!("the history gets stuck {later}, at {}", op_text(report, *op))
            }
            Consequence::Inconclusive { stop } => format!("the history is inconclusive: {}", clean(stop)),
        };
        format!("{assumption} {outcome}")
    };
    let wanted = stuck.what_ifs.iter().filter(|what_if| (what_if.outcome == Consequence::Accepted) == is_accepted);
    wanted.map(|what_if| sentence(&what_if.assumption, &what_if.outcome)).collect()
}

/// The marks of the reasons against one operation.
fn marks<'a>(reasons: impl Iterator<Item = &'a Reason>, total: usize) -> Vec<Mark> {
    let (mut tallies, mut marks) = (Tallies::new(total), Vec::new());
    for reason in reasons {
        let among = among(reason.states.len(), total);
        match &reason.why {
            Why::Guard(_) => tallies.add_reason(reason),
            Why::Excluded { name, span } => {
                let label = format!("`{}` excludes the step{among}", clean(name));
                marks.push(Mark { span: *span, is_primary: true, label });
            }
            Why::Error { message, span: Some(span) } => {
                let label = format!("no value{among}: {}", clean(message));
                marks.push(Mark { span: *span, is_primary: true, label });
            }
            Why::Error { span: None, .. } | Why::Time { .. } | Why::Words { .. } | Why::Dead => {}
        }
    }
    marks.extend(tallies.marks());
    marks
}

/// The outcomes of conjuncts, added up over states.
struct Tallies {
    total: usize,
    all: Vec<Tally>,
}

/// The outcomes of one conjunct in all states.
struct Tally {
    span: Span,
    text: String,
    is_true: usize,
    is_false: usize,
    /// As a condition: the number of states in which it is true, and false.
    chose: [usize; 2],
    errors: Vec<String>,
    failed: usize,
    /// Its parts and their distinct values where it is not true.
    values: Vec<(String, Vec<String>)>,
}

impl Tallies {
    fn new(total: usize) -> Tallies {
        Tallies { total, all: Vec::new() }
    }

    fn add_reason(&mut self, reason: &Reason) {
        let Why::Guard(guard) = &reason.why else { return };
        for conjunct in &guard.conjuncts {
            self.add(conjunct);
        }
        if !guard.conjuncts.iter().any(|conjunct| conjunct.outcomes.iter().any(is_blamed)) {
            // No part of the action is to blame by itself.
            let outcomes = vec![Outcome::False; reason.states.len()];
            self.add(&Conjunct { span: guard.span, text: guard.action.clone(), outcomes, values: Vec::new() });
        }
    }

    fn add(&mut self, conjunct: &Conjunct) {
        let found = self.all.iter().position(|tally| tally.span == conjunct.span);
        let index = found.unwrap_or_else(|| {
            let (span, text) = (conjunct.span, conjunct.text.clone());
            let (errors, values) = (Vec::new(), Vec::new());
            self.all.push(Tally { span, text, is_true: 0, is_false: 0, chose: [0, 0], errors, failed: 0, values });
            self.all.len() - 1
        });
        let tally = &mut self.all[index];
        for (state, outcome) in conjunct.outcomes.iter().enumerate() {
            match outcome {
                Outcome::True => tally.is_true += 1,
                Outcome::False => tally.is_false += 1,
                Outcome::Chose(truth) => tally.chose[usize::from(!truth)] += 1,
                Outcome::Error(message) => {
                    tally.failed += 1;
                    insert(&mut tally.errors, message);
                }
                Outcome::NotReached => {}
            }
            if !is_blamed(outcome) && !matches!(outcome, Outcome::Chose(_)) {
                continue;
            }
            for part in &conjunct.values {
                let Some(Some(value)) = part.values.get(state) else { continue };
                // Literals, and the conjunct itself, carry no information.
                if *value == part.text || part.text == conjunct.text {
                    continue;
                }
                match tally.values.iter_mut().find(|(text, _)| *text == part.text) {
                    Some((_, values)) => insert(values, value),
                    None => tally.values.push((part.text.clone(), vec![value.clone()])),
                }
            }
        }
    }

    fn blamed(&self) -> impl Iterator<Item = &Tally> {
        self.all.iter().filter(|tally| tally.is_false + tally.failed > 0)
    }

    fn marks(&self) -> Vec<Mark> {
        let primary =
            self.blamed().map(|tally| Mark { span: tally.span, is_primary: true, label: tally.label(self.total) });
        let mut marks: Vec<Mark> = primary.collect();
        let is_context = |tally: &&Tally| tally.is_true > 0 && tally.is_false + tally.failed == 0;
        let context: Vec<&Tally> = self.all.iter().filter(is_context).collect();
        for tally in self.all.iter().filter(|tally| tally.is_false + tally.failed == 0) {
            let [yes, no] = tally.chose;
            let label = match (yes, no) {
                (0, 0) => continue,
                (yes, 0) => format!("TRUE{}", among(yes, self.total)),
                (0, no) => format!("FALSE{}", among(no, self.total)),
                (yes, no) => format!("TRUE{}, FALSE{}", among(yes, self.total), among(no, self.total)),
            };
            marks.push(Mark { span: tally.span, is_primary: false, label: format!("{label}{}", tally.parts()) });
        }
        // The conjuncts evaluated last are nearest to the false one.
        for tally in context.iter().rev().take(TRUE_SHOWN) {
            let label = format!("TRUE{}", among(tally.is_true, self.total));
            marks.push(Mark { span: tally.span, is_primary: false, label });
        }
        marks
    }
}

impl Tally {
    fn label(&self, total: usize) -> String {
        let mut claims = Vec::new();
        if self.is_false > 0 {
            claims.push(format!("FALSE{}", among(self.is_false, total)));
        }
        if self.failed > 0 {
            let errors: Vec<String> = self.errors.iter().map(|error| clean(error)).collect();
            claims.push(format!("no value{}, because {}", among(self.failed, total), errors.join("; ")));
        }
        format!("{}{}", claims.join(", "), self.parts())
    }

    /// Its parts and their values, after a colon.
    fn parts(&self) -> String {
        let parts = self.values.iter().take(PARTS).map(|(text, values)| {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let values: Vec<String> = sorted(&values).into_iter().map(|value| short(value, VALUE)).collect();
            format!("{} is {}", short(text, VALUE), list(&values, "or", ALTERNATIVES))
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
    }
}

fn is_blamed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::False | Outcome::Error(_))
}

fn insert(items: &mut Vec<String>, item: &String) {
    if !items.contains(item) {
        items.push(item.clone());
    }
}
