//! Inserts and removes in pairs, one pair for each value.
//!
//! Each value gets an interval in which it went in and one in which it came out, and a remove that found nothing is
//! an *empty*. Bounds are tightened by the one fact that holds for all containers: a value goes in before it comes
//! out.

use omnilink_history::{History, OpId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::container::{Container, Discipline, Op, Words};
use crate::unambiguous::Decision;
use crate::unambiguous::ranks::{Ranks, ranks};
use crate::{Atom, Interner};

/// One value: when it went in and when it came out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) value: Atom,
    pub(crate) insert: OpId,
    pub(crate) remove: Option<OpId>,
    /// The insert takes effect in a slot from `insert_call` to before `insert_ret`.
    pub(crate) insert_call: usize,
    pub(crate) insert_ret: usize, // Invariant: insert_call < insert_ret <= remove_ret.
    /// The remove takes effect in a slot from `remove_call` to before `remove_ret`; after the end if there is no
    /// remove.
    pub(crate) remove_call: usize, // Invariant: insert_call <= remove_call < remove_ret.
    pub(crate) remove_ret: usize,
}

/// A remove that found nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Empty {
    pub(crate) op: OpId,
    pub(crate) call: usize,
    pub(crate) ret: usize,
}

/// The whole history.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) items: Vec<Item>,
    pub(crate) empties: Vec<Empty>,
    /// The slot after all events.
    pub(crate) end: usize,
}

impl Item {
    /// The slots in which the value is surely in; empty if the first is not before the second.
    pub(crate) fn surely_in(&self) -> (usize, usize) {
        (self.insert_ret, self.remove_call)
    }

    pub(crate) fn ops(&self) -> impl Iterator<Item = OpId> {
        [Some(self.insert), self.remove].into_iter().flatten()
    }
}

/// The operations on one value, before they are known to fit.
struct Uses {
    value: Atom,
    insert: Option<(OpId, Ranks)>,
    removes: SmallVec<[(OpId, Ranks); 1]>,
}

/// Pairs the operations of a history in which each value goes in at most once. Returns a decision if the history is
/// already decided, or the procedure does not apply.
pub(crate) fn items<D: Discipline>(container: &Container<D>, history: &History<Op>) -> Result<Items, Decision> {
    let Words { noun, insert, remove, inserted, removed, .. } = D::WORDS;
    let (atoms, insert, remove) = (container.atoms(), insert[0], remove[0]);
    let not_applicable = |reason: &str| Err(Decision::NotApplicable(reason.into()));
    if container.capacity().is_some() {
        return not_applicable(&format!("the {noun} has a capacity"));
    }
    let (ranks, end) = ranks(history).map_err(|reason| Decision::NotApplicable(reason.into()))?;
    let mut places: FxHashMap<Atom, usize> = FxHashMap::default();
    let mut uses: Vec<Uses> = Vec::new();
    let mut out = Items { end, ..Items::default() };
    for (op, &ranks) in history.ops().iter().zip(&ranks) {
        let mut place = |value: Atom| {
            *places.entry(value).or_insert_with(|| {
                uses.push(Uses { value, insert: None, removes: SmallVec::new() });
                uses.len() - 1
            })
        };
        match op.call {
            Op::Insert { ok: Some(false), .. } => {
                let article = if insert.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                return not_applicable(&format!("{article} `{insert}` was refused"));
            }
            Op::Insert { value, .. } => {
                let place = place(value);
                if uses[place].insert.replace((op.id, ranks)).is_some() {
                    return not_applicable(&format!("{} was {inserted} more than once", atoms.value(value)));
                }
            }
            Op::Remove { value: None } => return not_applicable(&format!("a `{remove}` has no recorded result")),
            Op::Remove { .. } | Op::IsEmpty { ok: true } if op.interval.is_unfinished() => {
                return not_applicable("an operation that removes a value is unfinished");
            }
            Op::Remove { value: Some(Atom::NIL) } | Op::IsEmpty { ok: true } => {
                out.empties.push(Empty { op: op.id, call: ranks.call, ret: ranks.ret });
            }
            Op::Remove { value: Some(value) } => {
                let place = place(value);
                uses[place].removes.push((op.id, ranks));
            }
            Op::IsEmpty { ok: false } => return not_applicable("an operation saw that it was not empty"),
            Op::Len { .. } => return not_applicable("the length was asked for"),
        }
    }
    for Uses { value, insert, removes } in uses {
        let violation = |ops: Vec<OpId>, what: String| {
            Err(Decision::Violation { ops, reason: format!("{} was {what}", atoms.value(value)) })
        };
        let (insert, remove) = match (insert, removes.as_slice()) {
            (None, []) => continue,
            (None, [remove, ..]) => return violation(vec![remove.0], format!("{removed}, but never {inserted}")),
            (Some(_), [one, other, ..]) => return violation(vec![one.0, other.0], format!("{removed} twice")),
            (Some((insert, ranks)), [remove]) if remove.1.ret < ranks.call => {
                return violation(vec![remove.0, insert], format!("{removed} before it was {inserted}"));
            }
            (Some((_, ranks)), []) if ranks.ret > end => continue, // It need not have happened.
            (Some(insert), removes) => (insert, removes.first()),
        };
        let (remove_call, remove_ret) = remove.map_or((end, end + 1), |remove| (remove.1.call, remove.1.ret));
        out.items.push(Item {
            value,
            insert: insert.0,
            remove: remove.map(|remove| remove.0),
            insert_call: insert.1.call,
            insert_ret: insert.1.ret.min(remove_ret),
            remove_call: remove_call.max(insert.1.call),
            remove_ret,
        });
    }
    Ok(out)
}

/// For each slot, the first slot from there on in which no value is surely in.
pub(crate) fn free_slots(items: &[Item], end: usize) -> Vec<usize> {
    let mut starts = vec![0_i32; end + 2];
    for (from, to) in items.iter().map(Item::surely_in).filter(|(from, to)| from < to) {
        starts[from] += 1;
        starts[to] -= 1;
    }
    let mut count = 0;
    let mut free: Vec<usize> = (0..=end).collect();
    let is_free: Vec<bool> = starts.iter().map(|start| (count += start, count == 0).1).collect();
    for slot in (0..end).rev() {
        free[slot] = if is_free[slot] { slot } else { free[slot + 1] };
    }
    free
}

/// At least one value, in time order, such that one is surely in during each slot from `from` to before `to`. The
/// items must cover these slots.
pub(crate) fn cover<'a>(items: impl IntoIterator<Item = &'a Item>, from: usize, to: usize) -> Vec<&'a Item> {
    let mut items: Vec<&Item> = items.into_iter().collect();
    items.sort_unstable_by_key(|item| item.insert_ret);
    let (mut items, mut slot, mut out) = (items.into_iter().peekable(), from, Vec::new());
    let mut best: Option<&Item> = None;
    while slot < to {
        while let Some(item) = items.next_if(|item| item.insert_ret <= slot) {
            best = best.filter(|best| best.remove_call >= item.remove_call).or(Some(item));
        }
        let item = best.filter(|best| best.remove_call > slot).expect("a value is surely in during each slot");
        slot = item.remove_call;
        out.push(item);
    }
    out
}

/// The violation that a remove found nothing, or a value other than these, while one of them was surely in.
pub(crate) fn covered(op: OpId, found: &str, cover: &[&Item], atoms: &Interner) -> Decision {
    let ops = std::iter::once(op).chain(cover.iter().flat_map(|item| item.ops())).collect();
    let reason = match cover {
        [only] => format!("{found}, but {} was in it all the time", atoms.value(only.value)),
        _ => format!("{found}, but at least one of {} was in it at any time", list(cover, atoms)),
    };
    Decision::Violation { ops, reason }
}

/// The values of these items, for messages.
pub(crate) fn list(items: &[&Item], atoms: &Interner) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = items.iter().take(SHOWN).map(|item| atoms.value(item.value).to_string()).collect();
    if items.len() > SHOWN {
        names.push(format!("{} more", items.len() - SHOWN));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
