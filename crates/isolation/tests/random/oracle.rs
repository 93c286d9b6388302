//! The definition itself: try every commit order, compute what each transaction sees, and compare each read with the last
//! write that its transaction sees.

use crate::generate::{Access, History, Txn};

/// A set of transactions.
type Mask = u64;

/// An external read: its place in the transaction, its key, and the transaction that wrote the version, if any.
struct Read {
    place: usize,
    key: u32,
    writer: Option<usize>,
}

/// A transaction that counts.
struct Node<'a> {
    txn: &'a Txn,
    session: usize,
    reads: Vec<Read>,
    /// Whose writes it has read, by place.
    seen: Vec<(usize, usize)>,
}

/// Whether each level holds, by order.
pub(crate) fn decide(history: &History) -> Vec<Vec<bool>> {
    let Some((nodes, known)) = resolve(history) else { return vec![vec![false; 8]; 3] };
    let is_before = |order: usize, a: usize, b: usize| {
        let (first, second) = (&nodes[a], &nodes[b]);
        let in_time = || match (first.txn.times, second.txn.times) {
            (Some((_, Some(end))), Some((start, _))) => history.is_timed && end < start,
            _ => false,
        };
        (order > 0 && first.session == second.session && a < b) || (order > 1 && in_time())
    };
    let all = 0..nodes.len();
    let of_order = |order: usize| {
        let base: Vec<Mask> = all
            .clone()
            .map(|b| {
                let before = all.clone().filter(|&a| a != b && is_before(order, a, b));
                before.chain(nodes[b].seen.iter().map(|seen| seen.1)).fold(0, |mask, a| mask | 1 << a)
            })
            .collect();
        let needs = all.clone().map(|b| base[b] | known[b]).collect::<Vec<_>>();
        let mut holds = vec![false; 8];
        extend(&nodes, &base, &needs, &mut Vec::new(), &mut holds);
        holds
    };
    (0..3).map(of_order).collect()
}

/// Tries all commit orders that begin with these transactions.
fn extend(nodes: &[Node<'_>], base: &[Mask], needs: &[Mask], order: &mut Vec<usize>, holds: &mut [bool]) {
    let done = order.iter().fold(0, |mask, node| mask | 1 << node);
    if order.len() == nodes.len() {
        for (level, holds) in holds.iter_mut().enumerate().filter(|(_, holds)| !**holds) {
            *holds = is_run(nodes, base, order, level);
        }
        return;
    }
    for node in 0..nodes.len() {
        if done >> node & 1 == 0 && needs[node] & !done == 0 {
            order.push(node);
            extend(nodes, base, needs, order, holds);
            order.pop();
        }
    }
}

/// True if the level holds with this commit order.
fn is_run(nodes: &[Node<'_>], base: &[Mask], order: &[usize], level: usize) -> bool {
    let mut vis = vec![0; nodes.len()];
    let mut before: Mask = 0;
    for (at, &node) in order.iter().enumerate() {
        let mut sees = base[node];
        if level == 5 || level == 6 {
            let clashes = order[..at].iter().filter(|&&other| has_common_key(nodes[other].txn, nodes[node].txn));
            sees |= clashes.fold(0, |mask, other| mask | 1 << other);
        }
        match level {
            3 | 5 => sees |= order[..at].iter().filter(|&&other| sees >> other & 1 == 1).fold(0, |m, &o| m | vis[o]),
            4 | 6 => {
                let last = order[..at].iter().rposition(|other| sees >> other & 1 == 1);
                sees = order[..last.map_or(0, |last| last + 1)].iter().fold(0, |mask, other| mask | 1 << other);
            }
            7 => sees = before,
            _ => {}
        }
        vis[node] = sees;
        before |= 1 << node;
    }
    nodes.iter().enumerate().all(|(node, Node { reads, seen, .. })| {
        reads.iter().all(|read| {
            let sees = match level {
                0 => read.writer.map_or(0, |writer| 1 << writer),
                1 => {
                    let earlier = seen.iter().filter(|(place, _)| *place < read.place).map(|seen| seen.1);
                    earlier.chain(read.writer).fold(0, |mask: Mask, other| mask | 1 << other)
                }
                _ => vis[node],
            };
            let is_visible = |other: &&usize| sees >> **other & 1 == 1 && writes(nodes[**other].txn, read.key);
            order.iter().rev().find(is_visible).copied() == read.writer
        })
    })
}

fn writes(txn: &Txn, key: u32) -> bool {
    txn.ops.iter().any(|(access, of, _)| *access == Access::Write && *of == key)
}

fn has_common_key(a: &Txn, b: &Txn) -> bool {
    a.ops.iter().any(|(access, key, _)| *access == Access::Write && writes(b, *key))
}

/// The transactions that count, and for each those before it in known version orders. `None` if a read is never allowed.
fn resolve(history: &History) -> Option<(Vec<Node<'_>>, Vec<Mask>)> {
    let txns: Vec<(usize, &Txn)> = history
        .sessions
        .iter()
        .enumerate()
        .flat_map(|(session, txns)| txns.iter().map(move |txn| (session, txn)))
        .collect();
    let write = |key: u32, value: u32| (Access::Write, key, vec![value]);
    let owner = |key: u32, value: u32| txns.iter().position(|(_, txn)| txn.ops.contains(&write(key, value)));
    let mut counts: Vec<bool> = txns.iter().map(|(_, txn)| txn.status == ' ').collect();
    loop {
        let read = |txn: &Txn| txn.ops.iter().filter(|op| op.0 == Access::Read).cloned().collect::<Vec<_>>();
        let of_counted = txns.iter().zip(&counts).filter(|(_, counts)| **counts).flat_map(|((_, txn), _)| read(txn));
        let mut sources =
            of_counted.flat_map(|(_, key, values)| values.into_iter().filter_map(move |value| owner(key, value)));
        match sources.find(|&source| !counts[source] && txns[source].1.status == '?') {
            Some(source) => counts[source] = true,
            None => break,
        }
    }
    let ids: Vec<usize> = (0..txns.len()).filter(|&txn| counts[txn]).collect();
    let node = |txn: usize| ids.iter().position(|&id| id == txn);
    let mut longest: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
    for (access, key, values) in ids.iter().flat_map(|&id| &txns[id].1.ops) {
        let list = longest.entry(*key).or_default();
        if history.is_list && *access == Access::Read && values.len() > list.len() {
            list.clone_from(values);
        }
    }
    let mut nodes = Vec::new();
    for &id in &ids {
        nodes.push(reads_of(history, &txns, id, &longest, &owner, &node)?);
    }
    let mut known = vec![0; nodes.len()];
    for (key, list) in &longest {
        let writers: Vec<usize> = list.iter().filter_map(|&value| owner(*key, value).and_then(node)).collect();
        for (at, &later) in writers.iter().enumerate() {
            writers[..at].iter().filter(|&&earlier| earlier != later).for_each(|earlier| known[later] |= 1 << earlier);
        }
        for late in (0..nodes.len()).filter(|late| writes(nodes[*late].txn, *key) && !writers.contains(late)) {
            writers.iter().for_each(|earlier| known[late] |= 1 << earlier);
        }
    }
    Some((nodes, known))
}

fn reads_of<'a>(
    history: &History,
    txns: &[(usize, &'a Txn)],
    id: usize,
    longest: &std::collections::BTreeMap<u32, Vec<u32>>,
    owner: &impl Fn(u32, u32) -> Option<usize>,
    node: &impl Fn(usize) -> Option<usize>,
) -> Option<Node<'a>> {
    let (session, txn) = txns[id];
    let mut found = Node { txn, session, reads: Vec::new(), seen: Vec::new() };
    for (place, (access, key, values)) in txn.ops.iter().enumerate() {
        if *access == Access::Write {
            continue;
        }
        let earlier = txn.ops[..place].iter().filter(|(access, of, _)| *access == Access::Write && of == key);
        let own: Vec<u32> = earlier.flat_map(|(_, _, values)| values.clone()).collect();
        let before = if history.is_list {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if !longest[key].starts_with(values) || !values.ends_with(&own) || sorted.len() < values.len() {
                return None;
            }
            &values[..values.len() - own.len()]
        } else if let Some(last) = own.last() {
            if values != &[*last] {
                return None;
            }
            continue;
        } else {
            values
        };
        // Every element has a writer that counts; the last one is the final write of another transaction.
        for &value in before {
            let writer = node(owner(*key, value)?)?;
            found.seen.extend(Some((place, writer)).filter(|_| owner(*key, value) != Some(id)));
        }
        let writer = match before.last() {
            None => None,
            Some(&value) => {
                let writer = owner(*key, value)?;
                let mut finals =
                    txns[writer].1.ops.iter().filter(|(access, of, _)| *access == Access::Write && of == key);
                if writer == id || finals.next_back()?.2 != [value] {
                    return None;
                }
                node(writer)
            }
        };
        found.reads.push(Read { place, key: *key, writer });
    }
    Some(found)
}
