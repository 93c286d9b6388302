//! The sentence that a reader meets first: the act of the blocked operation, and what the specification has instead.
//!
//! It is made from the conjunct that is false in the nearest state, its values there, and the results of the operation.
//! A sentence says only what holds in all orders shown, or says that other orders fail elsewhere. Its claim about the
//! origin of a value comes from the smallest part that fails by itself, in which all operations are known. It has at
//! most a hundred columns; the line below it has the operation in full.

mod blame;
mod room;
mod syntax;
mod told;

use unicode_width::UnicodeWidthStr;

use crate::data::{Broken, Evidence, Field, OpRef, Operation, Rejection, Report, StateGroup, Verdict, Views, Why};
use crate::wording::{brief, count, list, sorted};
use blame::{Blamed, against, one_line, unique};
use room::{LONGEST, Room, fitting};
use syntax::is_literal;
use told::{Scene, Told, called, owned};

/// The maximum number of alternatives in the line below the sentence.
const ALTERNATIVES: usize = 3;

impl Report {
    /// Gives a rejection its sentence, and groups its states, as far as the evidence allows.
    #[must_use]
    pub fn with_headline(mut self) -> Report {
        let found = self.rejection().and_then(|rejection| Headline::new(&self, rejection));
        let groups = self.rejection().map(groups).unwrap_or_default();
        if let Verdict::Rejected(rejection) = &mut self.verdict {
            if let Some(Headline { sentence, details }) = found {
                rejection.sentence = sentence;
                rejection.details = details.unwrap_or_else(|| std::mem::take(&mut rejection.details));
            }
            if let Evidence::Stuck(stuck) = &mut rejection.evidence {
                stuck.groups = groups;
            }
        }
        self
    }
}

struct Headline {
    sentence: String,
    /// The line below it; `None` if the one that the rejection has stays.
    details: Option<String>,
}

impl Headline {
    fn new(report: &Report, rejection: &Rejection) -> Option<Headline> {
        match &rejection.evidence {
            Evidence::Stuck(stuck) => {
                let [only] = rejection.blocked[..] else { return Headline::cut(rejection) };
                let scene = Scene { report, stuck, op: report.op(only) };
                Headline::of_stuck(scene, rejection).or_else(|| Headline::cut(rejection))
            }
            Evidence::Invariant(broken) => Headline::of_invariant(report, broken).or_else(|| Headline::cut(rejection)),
            Evidence::Anomaly(_) => Headline::cut(rejection),
            Evidence::Views(views) => Headline::of_views(report, rejection, views),
            Evidence::Contradiction { operations } => Headline::of_contradiction(report, rejection, operations),
        }
    }

    /// The sentence that a rejection has, cut; the whole below it.
    fn cut(rejection: &Rejection) -> Option<Headline> {
        let Rejection { sentence, details, .. } = rejection;
        let whole = if details.is_empty() { sentence.clone() } else { details.clone() };
        (sentence.width() > LONGEST).then(|| Headline { sentence: brief(sentence, LONGEST), details: Some(whole) })
    }

    /// The claim of a contradiction, with its operations in words, and the proof below.
    fn of_contradiction(report: &Report, rejection: &Rejection, operations: &[OpRef]) -> Option<Headline> {
        let Some((claim, proof)) = rejection.sentence.split_once(": ") else { return Headline::cut(rejection) };
        let operations = || operations.iter().map(|&op| report.op(op));
        let word = |word: &str, is_own: bool, room: Room<'_>| match operations().find(|op| op.name == word) {
            Some(op) if is_own => format!("`{}`", op.short(room.width())),
            Some(op) => owned(op, &op.short(room.width())),
            None => word.to_owned(),
        };
        let claim = |room: Room<'_>| {
            let before = std::iter::once("").chain(claim.split(' '));
            let words = claim.split(' ').zip(before).map(|(each, before)| word(each, before == "own", room));
            Some(words.collect::<Vec<_>>().join(" "))
        };
        Some(Headline { sentence: fitting([&[], &[]], &[&claim]), details: Some(format!("{proof}.")) })
    }

    fn of_invariant(report: &Report, broken: &Broken) -> Option<Headline> {
        let (first, others) = broken.broke.split_first()?;
        let first = report.op(*first);
        let parts = broken.conjuncts.first().map(|conjunct| Blamed::of(conjunct, broken.states.len()));
        let sentence = |room: Room<'_>| {
            let values = parts.as_ref().map(|parts| parts.parts(room)).filter(|parts| !parts.is_empty());
            let values = values.map(|values| format!(": {values}")).unwrap_or_default();
            Some(format!("{} breaks `{}`{values}", owned(first, &first.short(room.width())), broken.invariant))
        };
        let sentence = fitting([&first.args, &[]], &[&sentence]);
        let others: Vec<String> = others.iter().map(|&op| called(report.op(op))).collect();
        let others = match others[..] {
            [] => "no order that the actions allow avoids it.".to_owned(),
            [_] => format!("in other orders {} does; none avoids it.", others[0]),
            _ => format!("in other orders {} do; none avoids it.", list(&others, "or", ALTERNATIVES)),
        };
        Some(Headline { sentence, details: Some(format!("{}: {others}", called(first))) })
    }

    fn of_views(report: &Report, rejection: &Rejection, views: &Views) -> Option<Headline> {
        let view = views.views.first()?;
        let op = report.op(view.op);
        let why = view.why.as_ref();
        let plain = |room: Room<'_>| {
            Some(format!("no order explains {}, whatever operations miss", owned(op, &op.short(room.width()))))
        };
        let reasoned = |room: Room<'_>| Some(format!("{}: {}", plain(room)?, why?));
        let sentence = fitting([&[], &[]], &[&reasoned, &plain]);
        // The notes describe the only operation.
        let whole = if views.views.len() > 1 { format!("{}.", rejection.sentence) } else { String::new() };
        Some(Headline { sentence, details: Some(whole) })
    }

    fn of_stuck(scene: Scene<'_>, rejection: &Rejection) -> Option<Headline> {
        let Scene { stuck, op, .. } = scene;
        if let Some(found) = Headline::of_words(scene, rejection) {
            return Some(found);
        }
        let mut blamed = Blamed::all(stuck, rejection).into_iter();
        let Some(nearest) = blamed.next() else { return Headline::of_excluded(scene, rejection) };
        let others = stuck.states.len() - nearest.states.len();
        let bound = [&op.args[..], nearest.choices];
        let tails = [elsewhere(others), if others > 0 { "; others fail elsewhere".to_owned() } else { String::new() }];
        let tail = &tails[0];
        let told = |room: Room<'_>| scene.told(&nearest, room);
        let after = |room: Room<'_>| {
            let Told { sentence, .. } = told(room).filter(|told| told.is_turned)?;
            Some(format!("{sentence}{}{tail}", scene.after(room)?))
        };
        let plain = |room: Room<'_>| {
            let Told { sentence, end, .. } = told(room)?;
            Some(format!("{sentence}{end}{tail}"))
        };
        let early = |room: Room<'_>| scene.too_early(room);
        let refused = |room: Room<'_>| Some(scene.blamed(&nearest, room) + tail);
        let briefly = |room: Room<'_>| Some(scene.blamed_briefly(&nearest, room) + tail);
        let shortest = |room: Room<'_>| Some(scene.blamed_briefly(&nearest, room) + &tails[1]);
        let twice = |room: Room<'_>| scene.taken_twice(room);
        let sentence = match (scene.taken_twice(Room::wide()), told(Room::wide())) {
            (Some(_), _) => fitting(bound, &[&twice]),
            (None, Some(_)) => fitting(bound, &[&after, &plain]),
            (None, None) if !nearest.has_values(stuck) && early(Room::wide()).is_some() => fitting(bound, &[&early]),
            (None, None) => fitting(bound, &[&refused, &briefly, &shortest]),
        };
        if op.line().is_some() {
            return Some(Headline { sentence, details: None });
        }
        let states = states(nearest.states.len(), stuck.states.len());
        let mut proof = format!("{} is not legal: {states} {}", timed(op), nearest.fact(stuck, Room::wide()));
        if let Some(next) = blamed.next().filter(|_| others > 0) {
            let rest = if next.states.len() == others { "in the others" } else { "in others" };
            proof += &format!("; {rest} {}", next.fact(stuck, Room::wide()));
        }
        let value = told(Room::wide()).and_then(|told| told.value);
        let origin = value.and_then(|value| scene.origin(&value)).map(|origin| format!(" {origin}"));
        Some(Headline { sentence, details: Some(format!("{proof}.{}", origin.unwrap_or_default())) })
    }

    /// The reasons of a specification that has words of its own.
    fn of_words(scene: Scene<'_>, rejection: &Rejection) -> Option<Headline> {
        let words = against(scene.stuck, rejection).filter_map(|reason| match &reason.why {
            Why::Words { text } => Some(text.as_str()),
            _ => None,
        });
        let words: Vec<String> = sorted(&unique(&words.collect::<Vec<_>>())).into_iter().map(str::to_owned).collect();
        let first = words.first()?;
        let all = |room: Room<'_>| Some(scene.refused(&words.join("; or "), room));
        let one = |room: Room<'_>| Some(scene.refused(first, room) + &elsewhere(words.len() - 1));
        let sentence = fitting([&[], &[]], &[&all, &one]);
        let holds = against(scene.stuck, rejection).map(|reason| reason.states.len()).sum();
        let details = format!("{} is not legal {}.", timed(scene.op), states(holds, scene.stuck.states.len()));
        Some(Headline { sentence, details: Some(details) })
    }

    /// The constraints that exclude every step of the operation.
    fn of_excluded(scene: Scene<'_>, rejection: &Rejection) -> Option<Headline> {
        let excluded = against(scene.stuck, rejection).filter_map(|reason| match &reason.why {
            Why::Excluded { name, .. } => Some(format!("`{name}`")),
            _ => None,
        });
        let excluded: Vec<String> = unique(&excluded.collect::<Vec<_>>());
        let verb = if excluded.len() == 1 { "excludes" } else { "exclude" };
        let fact = format!("{} {verb} the state after it", list(&excluded, "and", ALTERNATIVES));
        let sentence = fitting([&[], &[]], &[&|room| Some(scene.refused(&fact, room))]);
        let details = format!("{} is not legal: {fact}.", timed(scene.op));
        (!excluded.is_empty()).then_some(Headline { sentence, details: Some(details) })
    }
}

/// An operation by name, call and interval.
fn timed(op: &Operation) -> String {
    format!("{} {}", called(op), op.interval())
}

/// The end of a sentence that holds in some orders only.
fn elsewhere(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => "; 1 other order fails elsewhere".to_owned(),
        _ => format!("; {others} other orders fail elsewhere"),
    }
}

/// The states in which a reason holds.
fn states(some: usize, all: usize) -> String {
    match (some, all) {
        (_, 0 | 1) => "in the state before it".to_owned(),
        (2, 2) => "in both states possible before it".to_owned(),
        _ if some == all => format!("in all {} possible before it", count(all as u64, "state")),
        _ => format!("in {some} of the {} possible before it", count(all as u64, "state")),
    }
}

/// Groups of states with equal values of what the false conjunct reads.
fn groups(rejection: &Rejection) -> Vec<StateGroup> {
    let Evidence::Stuck(stuck) = &rejection.evidence else { return Vec::new() };
    let total = stuck.states.len();
    let blamed = Blamed::all(stuck, rejection).into_iter().find(|blamed| blamed.states.len() == total && total > 1);
    let Some(blamed) = blamed else { return Vec::new() };
    let parts: Vec<(&str, &Vec<&str>)> = blamed
        .values
        .iter()
        .filter(|(text, _)| *text != blamed.text && !is_literal(text))
        .filter_map(|(text, values)| Some((*text, values.as_ref()?)))
        .collect();
    let mut groups: Vec<StateGroup> = Vec::new();
    for (place, &state) in blamed.states.iter().enumerate() {
        let field = |(text, values): &(&str, &Vec<&str>)| Field {
            name: brief(&one_line(text), 90),
            value: values[place].to_owned(),
        };
        let values: Vec<Field> = parts.iter().map(field).collect();
        match groups.iter_mut().find(|group| group.values == values) {
            Some(group) => group.states.push(state),
            None => groups.push(StateGroup { values, states: vec![state] }),
        }
    }
    // A value that is the same everywhere does not distinguish groups.
    if groups.len() > 1 {
        let is_same = |at: usize| groups.iter().all(|group| group.values[at] == groups[0].values[at]);
        let kept: Vec<bool> = (0..parts.len()).map(|at| !is_same(at)).collect();
        for group in &mut groups {
            let mut kept = kept.iter();
            group.values.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
    groups
}
