//! The order of the events of a log.
//!
//! Every order is reduced to one form: events are on *chains*, each of which is totally ordered, and an event *needs*
//! a number of events of every other chain before it. So a set of events that may have happened is one number for each
//! chain, and an event is next if all its needs are met. The needs of an event are computed once.
//!
//! - Without an order in the settings, the lines are one chain.
//! - Otherwise each process is a chain, in the order of its lines; with a vector or Lamport clock, in the order of its
//!   own clock, because lines of concurrent threads may be written in another order.
//! - Time: `e` comes before `f` if the latest time of `e` is before the earliest time of `f`. Equal times say nothing.
//! - Vector clocks: `e` of process `p` comes before `f` if `f` has seen at least as much of `p` as `e`. Gaps are fine.
//! - Messages: each receipt of a key has a sending of its own, so the k-th receipt in a file comes after the k-th sending,
//!   both in the order of the lines. Lines of different files have no order, so each file counts its receipts separately,
//!   and a key that several processes send in several files orders nothing. Nor does a message from an event to itself or
//!   to one before it on its chain: it received other messages with its key.
//! - Offsets between the clocks of hosts are bounded by messages: a message from `a` to `b` that was sent at `s` and
//!   received at `r` shows that the clock of `b` is at most `r - s` ahead of that of `a`. Shortest paths combine these
//!   bounds, and a negative cycle shows that a clock was changed.

use std::collections::BTreeMap;

use omnilink_history::format::json::Json;
use omnilink_validate::Problem;

/// The properties of an event that determine its place in the order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    /// The process.
    pub(crate) process: usize,
    /// The file of its line.
    pub(crate) file: usize,
    /// The earliest and the latest time, in nanoseconds.
    pub(crate) interval: Option<(i128, i128)>,
    /// A number for each process.
    pub(crate) vector: Option<Vec<(usize, i64)>>,
    pub(crate) lamport: Option<i64>,
    /// The key of a message that it sends.
    pub(crate) sends: Option<String>,
    /// The key of a message that it receives.
    pub(crate) receives: Option<String>,
    /// An event after which it happens: for the step of a span, its first event.
    pub(crate) after: Option<usize>,
    /// An event before which it happens: for the step of a span, its last event.
    pub(crate) before: Option<usize>,
}

/// The kinds of order in the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// One chain of all lines.
    pub(crate) is_total: bool,
    /// Bound the offsets between clocks by messages.
    pub(crate) offsets: bool,
}

/// A partial order of events.
#[derive(Debug, Clone, Default)]
pub struct EventOrder {
    /// The events of each chain, in order.
    pub(crate) chains: Vec<Vec<usize>>,
    /// For each event the number of events of each chain that come before it.
    pub(crate) needs: Vec<Box<[u32]>>,
    /// The chain of each event, and its index there.
    pub(crate) places: Vec<(usize, usize)>,
    /// Messages: the send event and the receive event.
    pub(crate) messages: Vec<(usize, usize)>,
    /// Notes about the order.
    pub(crate) notes: Vec<String>,
    /// Whether it is the order of the lines.
    pub(crate) is_total: bool,
}

impl EventOrder {
    /// Computes the order of events. Fails if events come before themselves.
    pub(crate) fn new(
        clocks: &[Clock],
        processes: usize,
        kinds: Kinds,
        name: &dyn Fn(usize) -> String,
    ) -> Result<EventOrder, Problem> {
        let mut order = EventOrder { is_total: kinds.is_total, ..EventOrder::default() };
        order.chain(clocks, processes, kinds);
        order.needs = (0..clocks.len()).map(|_| vec![0; order.chains.len()].into()).collect();
        for event in 0..clocks.len() {
            let (chain, index) = order.places[event];
            order.needs[event][chain] = u32::try_from(index).unwrap_or(u32::MAX);
        }
        order.pair(clocks, name);
        for (send, receive) in order.messages.clone() {
            order.put_before(send, receive);
        }
        for (event, clock) in clocks.iter().enumerate() {
            if let Some(first) = clock.after {
                order.put_before(first, event);
            }
            if let Some(last) = clock.before {
                order.put_before(event, last);
            }
        }
        if !kinds.is_total {
            let ahead = kinds.offsets.then(|| order.offsets(clocks, processes, name)).transpose()?;
            order.by_time(clocks, ahead.as_ref());
            order.by_vector(clocks);
        }
        order.check(clocks.len(), name)?;
        Ok(order)
    }

    /// Distributes the events over chains.
    fn chain(&mut self, clocks: &[Clock], processes: usize, kinds: Kinds) {
        let is_own = |clock: &Clock| clock.after.is_none() && clock.before.is_none();
        self.chains = vec![Vec::new(); if kinds.is_total { 1 } else { processes }];
        for (event, clock) in clocks.iter().enumerate().filter(|(_, clock)| is_own(clock)) {
            self.chains[if kinds.is_total { 0 } else { clock.process }].push(event);
        }
        if !kinds.is_total {
            for (process, chain) in self.chains.iter_mut().enumerate() {
                let own = |event: &usize| {
                    let clock = &clocks[*event];
                    let vector = clock.vector.as_ref();
                    let own = vector.and_then(|vector| vector.iter().find(|(other, _)| *other == process));
                    own.map(|(_, count)| *count).or(clock.lamport)
                };
                // Stable: events without a clock of their own stay where they are.
                if chain.iter().all(|event| own(event).is_some()) {
                    chain.sort_by_key(|event| own(event));
                }
            }
        }
        // The steps of spans that overlap are on different chains.
        let mut free: Vec<(usize, usize, usize)> = Vec::new();
        for (event, clock) in clocks.iter().enumerate().filter(|(_, clock)| !is_own(clock)) {
            let (first, last) = (clock.after.unwrap_or(event), clock.before.unwrap_or(event));
            match free.iter_mut().find(|(_, process, end)| *process == clock.process && *end <= first) {
                Some((chain, _, end)) => {
                    self.chains[*chain].push(event);
                    *end = last;
                }
                None => {
                    free.push((self.chains.len(), clock.process, last));
                    self.chains.push(vec![event]);
                }
            }
        }
        self.places = vec![(0, 0); clocks.len()];
        for (chain, events) in self.chains.iter().enumerate() {
            for (index, event) in events.iter().enumerate() {
                self.places[*event] = (chain, index);
            }
        }
    }

    fn put_before(&mut self, first: usize, second: usize) {
        let (chain, index) = self.places[first];
        let need = &mut self.needs[second][chain];
        *need = (*need).max(u32::try_from(index + 1).unwrap_or(u32::MAX));
    }

    /// Finds the messages.
    fn pair(&mut self, clocks: &[Clock], name: &dyn Fn(usize) -> String) {
        let mut keys: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (event, clock) in clocks.iter().enumerate() {
            if let Some(key) = &clock.sends {
                keys.entry(key).or_default().0.push(event);
            }
            if let Some(key) = &clock.receives {
                keys.entry(key).or_default().1.push(event);
            }
        }
        let (mut unmatched, mut unordered) = (Vec::new(), Vec::new());
        for (mut sends, receipts) in keys.into_values() {
            if !self.sort(&mut sends, clocks) {
                unordered.extend(receipts.first().and(sends.first()));
                continue;
            }
            let mut files: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for event in receipts {
                files.entry(clocks[event].file).or_default().push(event);
            }
            for mut receipts in files.into_values() {
                self.sort(&mut receipts, clocks);
                unmatched.extend(receipts.iter().skip(sends.len()));
                let is_forward = |&(send, receipt): &(usize, usize)| {
                    let (sent, received) = (self.places[send], self.places[receipt]);
                    sent.0 != received.0 || sent.1 < received.1
                };
                self.messages.extend(sends.iter().copied().zip(receipts).filter(is_forward));
            }
        }
        self.messages.sort_unstable_by_key(|&(_, receipt)| receipt);
        let mut note = |events: &mut Vec<usize>, rest: &str| {
            events.sort_unstable();
            let Some(first) = events.first() else { return };
            let more = if events.len() > 1 { format!(" and {} more", events.len() - 1) } else { String::new() };
            self.notes.push(format!("{}{more} {rest}", name(*first)));
        };
        note(&mut unmatched, "receives a message that no event sends: it is ordered by nothing");
        note(
            &mut unordered,
            "sends a key that another process sends in another file: its receipts are ordered by nothing",
        );
    }

    /// Sorts events by line, or as their process does if they are of one; false if their lines have no order.
    fn sort(&self, events: &mut [usize], clocks: &[Clock]) -> bool {
        let Some(&first) = events.first() else { return true };
        if events.iter().all(|&event| self.places[event].0 == self.places[first].0) {
            events.sort_by_key(|&event| self.places[event].1);
            return true;
        }
        events.iter().all(|&event| clocks[event].file == clocks[first].file)
    }

    /// The number of nanoseconds by which the clock of each process is at most ahead of that of each other.
    fn offsets(
        &self,
        clocks: &[Clock],
        processes: usize,
        name: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Vec<i128>>, Problem> {
        const UNKNOWN: i128 = i128::MAX / 4;
        let mut ahead = vec![vec![UNKNOWN; processes]; processes];
        let mut shown = vec![vec![None; processes]; processes];
        for (process, row) in ahead.iter_mut().enumerate() {
            row[process] = 0;
        }
        for &(send, receive) in &self.messages {
            let (from, to) = (&clocks[send], &clocks[receive]);
            if let (Some((sent, _)), Some((_, received))) = (from.interval, to.interval) {
                let bound = &mut ahead[to.process][from.process];
                if received - sent < *bound {
                    *bound = received - sent;
                    shown[to.process][from.process] = Some((send, receive));
                }
            }
        }
        for middle in 0..processes {
            for from in 0..processes {
                for to in 0..processes {
                    let around = ahead[from][middle].saturating_add(ahead[middle][to]);
                    if around < ahead[from][to] {
                        ahead[from][to] = around;
                        shown[from][to] = shown[from][middle].or(shown[middle][to]);
                    }
                }
            }
        }
        match (0..processes).find(|&process| ahead[process][process] < 0) {
            None => Ok(ahead),
            Some(process) => {
                let place = shown[process][process]
                    .map_or(String::new(), |(send, receive)| format!(": {} and {}", name(send), name(receive)));
                Err(Problem::new(format!("no offsets between clocks explain all messages{place}"))
                    .help("a clock was changed during the run; leave out `offsets`, or cut the log there".to_owned()))
            }
        }
    }

    fn by_time(&mut self, clocks: &[Clock], ahead: Option<&Vec<Vec<i128>>>) {
        // For each chain the latest times in order, each with the number of events up to the last that has been seen.
        let ends: Vec<Vec<(i128, u32)>> = self
            .chains
            .iter()
            .map(|chain| {
                let timed = chain.iter().enumerate();
                let mut ends: Vec<(i128, u32)> = timed
                    .filter_map(|(index, &event)| Some((clocks[event].interval?.1, u32::try_from(index + 1).ok()?)))
                    .collect();
                ends.sort_unstable();
                let mut most = 0;
                for (_, count) in &mut ends {
                    most = most.max(*count);
                    *count = most;
                }
                ends
            })
            .collect();
        for (event, clock) in clocks.iter().enumerate() {
            let Some((earliest, _)) = clock.interval else { continue };
            let own = self.places[event].0;
            for (chain, ends) in ends.iter().enumerate().filter(|(chain, _)| *chain != own) {
                let other = self.chains[chain].first().map_or(0, |&event| clocks[event].process);
                // Our clock is at most this far ahead of the other, so a time of theirs is at most that much later here.
                let slack = ahead.map_or(0, |ahead| ahead[clock.process][other]);
                let before = ends.partition_point(|(latest, _)| latest.saturating_add(slack) < earliest);
                if before > 0 {
                    let need = &mut self.needs[event][chain];
                    *need = (*need).max(ends[before - 1].1);
                }
            }
        }
    }

    fn by_vector(&mut self, clocks: &[Clock]) {
        let own = |event: usize| {
            let clock = &clocks[event];
            clock.vector.as_ref()?.iter().find(|(process, _)| *process == clock.process).map(|(_, count)| *count)
        };
        let chains = self.chains.clone();
        for (event, clock) in clocks.iter().enumerate() {
            let Some(vector) = &clock.vector else { continue };
            for &(process, seen) in vector.iter().filter(|(process, _)| *process != clock.process) {
                let before = chains[process].partition_point(|&other| own(other).is_some_and(|count| count <= seen));
                let need = &mut self.needs[event][process];
                *need = (*need).max(u32::try_from(before).unwrap_or(u32::MAX));
            }
        }
    }

    /// Fails if no sequence of all events meets all needs.
    fn check(&self, events: usize, name: &dyn Fn(usize) -> String) -> Result<(), Problem> {
        let mut position = vec![0_u32; self.chains.len()];
        let mut placed = 0;
        loop {
            let Some(event) = self.next(&position).next() else { break };
            position[self.places[event].0] += 1;
            placed += 1;
        }
        if placed == events {
            return Ok(());
        }
        let heads = self.chains.iter().zip(&position);
        let heads: Vec<usize> = heads.filter_map(|(chain, position)| chain.get(*position as usize).copied()).collect();
        let waiting = heads.iter().find_map(|&event| {
            let unmet = self.needs[event].iter().zip(&position).position(|(need, position)| need > position)?;
            let other = self.chains[unmet].get(self.needs[event][unmet] as usize - 1)?;
            Some((event, *other))
        });
        let message = match waiting {
            Some((event, other)) => format!(
                "the order contradicts itself: {} comes after {}, and each event before that comes after another",
                name(event),
                name(other)
            ),
            None => "the order contradicts itself".to_owned(),
        };
        let help =
            "the events of a process are in the order of its lines; its times and clocks must not go back".to_owned();
        Err(Problem::new(message).help(help))
    }

    /// Exchanges two events of a chain.
    pub(crate) fn exchange(&mut self, first: usize, second: usize) {
        let (a, b) = (self.places[first], self.places[second]);
        self.chains[a.0][a.1] = second;
        self.chains[b.0][b.1] = first;
        self.places.swap(first, second);
        self.needs.swap(first, second);
    }

    /// Messages: the send event and the receive event.
    pub fn messages(&self) -> &[(usize, usize)] {
        &self.messages
    }

    /// One sequence of all events that this order allows: `first`, which must be the beginning of one, then the others.
    /// Of several that may be next, one of `preferred` comes first.
    pub fn sequence(&self, first: &[usize], preferred: &[usize]) -> Vec<usize> {
        let mut position = vec![0_u32; self.chains.len()];
        let mut sequence = Vec::with_capacity(self.places.len());
        let mut place = |event: usize, position: &mut [u32]| {
            position[self.places[event].0] += 1;
            sequence.push(event);
        };
        first.iter().for_each(|&event| place(event, &mut position));
        loop {
            let ready = self.next(&position).min_by_key(|event| (!preferred.contains(event), *event));
            let Some(event) = ready else { break };
            place(event, &mut position);
        }
        sequence
    }

    /// The events that may be next.
    pub(crate) fn next<'a>(&'a self, position: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        let heads = self.chains.iter().zip(position);
        heads
            .filter_map(|(chain, index)| chain.get(*index as usize).copied())
            .filter(move |&event| self.needs[event].iter().zip(position).all(|(need, position)| need <= position))
    }
}

/// A time in nanoseconds. A number may be in seconds, milliseconds, microseconds or nanoseconds: only differences count, in
/// the unit of the log. Text is RFC 3339.
pub(crate) fn time(json: &Json) -> Option<i128> {
    match json {
        Json::Number(omnilink_history::Value::Int(number)) => Some(i128::from(*number) * FINE),
        Json::Number(omnilink_history::Value::Float(number)) => Some((number.get() * FINE as f64).round() as i128),
        Json::Number(number @ omnilink_history::Value::Big(_)) => {
            number.to_string().parse::<i128>().ok()?.checked_mul(FINE)
        }
        Json::Text(text) => match text.parse::<i128>() {
            Ok(number) => number.checked_mul(FINE),
            Err(_) => rfc_3339(text).or_else(|| Some((text.parse::<f64>().ok()? * FINE as f64).round() as i128)),
        },
        _ => None,
    }
}

/// The parts of one unit of time.
pub(crate) const FINE: i128 = 1_000_000_000;

/// A date and a time such as `2026-11-16T21:17:25.123456789Z`, in nanoseconds.
fn rfc_3339(text: &str) -> Option<i128> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_nanosecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_begins_as_given_and_keeps_the_order() {
        // The second process receives what the first one sends last.
        let clock = |process, sends: Option<&str>, receives: Option<&str>| Clock {
            process,
            sends: sends.map(str::to_owned),
            receives: receives.map(str::to_owned),
            ..Clock::default()
        };
        let clocks = [clock(0, None, None), clock(0, Some("m"), None), clock(1, None, None), clock(1, None, Some("m"))];
        let order = EventOrder::new(&clocks, 2, Kinds::default(), &|event| event.to_string()).unwrap();
        assert_eq!(order.messages(), [(1, 3)]);
        assert_eq!(order.sequence(&[], &[]), [0, 1, 2, 3]);
        assert_eq!(order.sequence(&[2], &[]), [2, 0, 1, 3]);
        assert_eq!(order.sequence(&[0], &[2]), [0, 2, 1, 3]);
        assert_eq!(order.sequence(&[], &[3]), [0, 1, 2, 3]);
    }

    /// The needs of each event, or the problem.
    fn check(clocks: &[Clock], processes: usize, offsets: bool) -> String {
        let name = |event: usize| format!("event {event}");
        match EventOrder::new(clocks, processes, Kinds { is_total: false, offsets }, &name) {
            Ok(order) => order.needs.iter().map(|needs| format!("{needs:?}")).collect::<Vec<_>>().join(" "),
            Err(problem) => problem.message,
        }
    }

    fn at(process: usize, earliest: i128, latest: i128) -> Clock {
        Clock { process, interval: Some((earliest, latest)), ..Clock::default() }
    }

    fn message(clock: Clock, sends: Option<&str>, receives: Option<&str>) -> Clock {
        Clock { sends: sends.map(str::to_owned), receives: receives.map(str::to_owned), ..clock }
    }

    #[test]
    fn times_order_events_that_are_further_apart_than_they_are_uncertain() {
        assert_eq!(check(&[at(0, 1, 3), at(1, 3, 5), at(1, 6, 7)], 2, false), "[0, 0] [0, 0] [1, 1]");
        assert_eq!(check(&[at(0, 1, 9), at(0, 1, 2), at(1, 3, 4)], 2, false), "[0, 0] [1, 0] [2, 0]");
    }

    #[test]
    fn an_order_that_contradicts_itself_is_an_error() {
        let clocks = [at(0, 9, 9), at(0, 1, 1), at(1, 5, 5)];
        let contradiction = "the order contradicts itself";
        assert!(check(&clocks, 2, false).starts_with(contradiction), "{}", check(&clocks, 2, false));
    }

    #[test]
    fn vector_clocks_order_events_of_different_processes() {
        let clock = |process: usize, vector: &[(usize, i64)]| Clock {
            process,
            vector: Some(vector.to_vec()),
            ..Clock::default()
        };
        // The lines of process 0 are not in order, and 4 is missing.
        let clocks =
            [clock(0, &[(0, 5)]), clock(0, &[(0, 3)]), clock(1, &[(0, 4), (1, 1)]), clock(1, &[(0, 9), (1, 2)])];
        assert_eq!(check(&clocks, 2, false), "[1, 0] [0, 0] [1, 0] [2, 1]");
    }

    #[test]
    fn messages_bound_the_offsets_of_clocks() {
        // Process 1 is at most 103 - 1 ahead, and process 0 at most 6 - 101: so 1 is ahead by 95 to 102.
        let clocks = |after: i128| {
            [
                message(at(0, 1, 1), Some("m"), None),
                message(at(1, 103, 103), None, Some("m")),
                message(at(1, 101, 101), Some("r"), None),
                message(at(0, 6, 6), None, Some("r")),
                at(0, after, after),
                at(1, 200, 200),
            ]
        };
        // The last event of process 1 is at 98 to 105 of the clock of process 0.
        let last = |after: i128| {
            let clocks = clocks(after);
            let mut sorted = [2, 0, 1, 3, 4, 5].map(|place: usize| clocks[place].clone());
            sorted.swap(0, 1);
            check(&sorted, 2, true).split("] ").last().unwrap_or_default().to_owned()
        };
        assert_eq!(last(97), "[3, 2]");
        assert_eq!(last(99), "[2, 2]");
        let stepped = [
            message(at(0, 1, 1), Some("m"), None),
            message(at(1, 0, 0), None, Some("m")),
            message(at(1, 5, 5), Some("r"), None),
            message(at(0, 2, 2), None, Some("r")),
        ];
        assert!(check(&stepped, 2, true).starts_with("no offsets between clocks explain all messages"));
    }

    #[test]
    fn times_are_numbers_or_dates() {
        let read = |text: &str| Json::parse(text).ok().as_ref().and_then(time);
        assert_eq!(read("3"), Some(3_000_000_000));
        assert_eq!(read("1712329729.5"), Some(1_712_329_729_500_000_000));
        assert_eq!(read("\"2024-04-05T15:08:49.5Z\""), read("1712329729.5"));
        assert_eq!(read("\"2024-04-05T17:08:49.5+02:00\""), read("1712329729.5"));
        assert_eq!(read("\"2024-04-05 15:08:49.500000Z\""), read("1712329729.5"));
        assert_eq!(read("\"2024-04-05T11:08:49,5-04:00\""), read("1712329729.5"));
        assert_eq!(read("\"2024-13-05T15:08:49Z\""), None);
        assert_eq!(read("\"2024-04-99T15:08:49Z\""), None);
        assert_eq!(read("\"99999999999999999-04-05T15:08:49Z\""), None);
        assert_eq!(read("\"2024-04-05T15:08:49+99999999999999999999:00\""), None);
        assert_eq!(read("\"2024-04-05\""), None);
        assert_eq!(read("true"), None);
    }
}
