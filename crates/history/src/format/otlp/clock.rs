//! Bounds between the clocks of several hosts.
//!
//! **Problem.** Operations of two hosts have times of two clocks. A difference between the clocks that is ignored
//! orders operations that were concurrent, or the other way round, and makes a correct system look wrong.
//!
//! **Idea.** Let `x[A]` be what has to be added to the clock of host `A` to get true time. It is unknown, but causality
//! bounds differences. If a span `C` on `B` is a child of a span `P` on `A`, then the context of `P` has traveled from
//! `A` to `B`, so `P` began before `C` did:
//!
//! ```text
//! P.start + x[A] <= C.start + x[B]       so  x[B] - x[A] >= P.start - C.start
//! ```
//!
//! If moreover `P` is a client span that ended without an error, `C` is its only server span, and the client got the
//! answer, then `C` began before `P` ended:
//!
//! ```text
//! C.start + x[B] <= P.end + x[A]         so  x[B] - x[A] <= P.end - C.start
//! ```
//!
//! The end of `C` is not used: servers answer first and close their spans afterwards, so that the client may well end
//! before. A client that gave up has not seen an answer, and a client with several server spans has perhaps seen
//! that of another one. A declared error of at most `e` is a bound against true time: `-e <= x[A] <= e`.
//!
//! All of these are constraints on differences of two unknowns. The shortest paths in the graph that has an edge of
//! length `c` from `A` to `B` for each `x[B] - x[A] <= c` are the tightest bounds that follow from all of them
//! together. A cycle of negative length means that no offsets fit: a clock was set while the trace was recorded.
//!
//! **Drift.** Offsets change, because clocks run at different rates. If the clock of `A` drifts by at most `d[A]`,
//! then a difference that was seen once holds during a trace of length `T` up to `(d[A] + d[B]) * T`, which is added
//! to each constraint of a pair of spans. `T` itself follows from the bounds; it begins with the sum of the times
//! that single hosts recorded, which covers all hosts with constraints between them, because these overlap, and the
//! time between the hosts whose errors are declared.
//!
//! **Use.** An operation on `A` from `s` to `e` becomes one from `s + lo` to `e + hi` on the clock of a reference `R`,
//! where `lo <= x[A] - x[R] <= hi` holds at any time. True start and end are inside, so if one operation precedes
//! another by these intervals, it did so in true time: an order that explains the true history explains this one too,
//! and no correct system is rejected. The price is that fewer wrong ones are. Server spans could narrow the interval
//! of their client further, but they do not: an operation may take effect at any time between call and return.

use std::collections::HashMap;

use super::span::{Kind, Span, Spans};
use crate::format::error::{FormatError, Location};

/// The drift of a clock that declares none, in parts per million: the tolerance of a common oscillator.
const DRIFT: u64 = 50;

/// No bound. Far larger than any difference of times, and far smaller than what would overflow.
const UNBOUNDED: i128 = 1 << 100;

/// What has to be added to the times of a host, at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) lo: i128,
    pub(super) hi: i128,
}

/// The shift for each host, by name; and remarks. Spans have no duplicates.
pub(super) fn shifts(spans: &Spans) -> Result<(HashMap<&str, Shift>, Vec<String>), FormatError> {
    let mut hosts: Vec<&str> = spans.resources.iter().map(|resource| resource.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let clocks = Clocks::new(spans, &hosts);
    let with_operations: Vec<usize> = (0..hosts.len()).filter(|&host| clocks.operations[host] > 0).collect();
    let [first, _, ..] = with_operations.as_slice() else {
        return Ok((hosts.iter().map(|host| (*host, Shift::default())).collect(), Vec::new()));
    };
    let total = clocks.longest();
    let mut bounds = clocks.bounds(total)?;
    let Some(mut reference) = clocks.reference(&bounds, &with_operations) else {
        return Err(clocks.incomparable(spans, &bounds, *first, &with_operations));
    };
    if let Some(length) = clocks.length(&bounds, reference).filter(|length| *length < total) {
        bounds = clocks.bounds(length)?;
        reference = clocks.reference(&bounds, &with_operations).unwrap_or(reference);
    }
    let mut notes = Vec::new();
    for &host in with_operations.iter().filter(|&&host| host != reference) {
        let Shift { lo, hi } = bounds.shift(host, reference);
        let than = clocks.name(reference);
        let by = i64::try_from(hi - lo).map_or_else(|_| "years".into(), duration);
        notes.push(format!("times of {} are uncertain by {by} against {than}", clocks.name(host)));
    }
    let shift =
        |host: usize| if clocks.operations[host] > 0 { bounds.shift(host, reference) } else { Shift::default() };
    Ok((hosts.iter().enumerate().map(|(host, name)| (*name, shift(host))).collect(), notes))
}

/// A length of time in nanoseconds, for people.
pub(super) fn duration(nanos: i64) -> String {
    let (unit, name) = match nanos {
        ..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.1} {name}", nanos as f64 / unit)
}

/// The hosts and the constraints between them. True time is one more host, behind the others.
struct Clocks<'a> {
    hosts: &'a [&'a str],
    operations: Vec<u64>,
    extents: Vec<Option<(u64, u64)>>, // The first and the last time of each host.
    drifts: Vec<u64>,
    errors: Vec<Option<u64>>,
    constraints: Vec<Constraint<'a>>,
}

/// `x[to] - x[from] <= most`, by a pair of spans.
struct Constraint<'a> {
    from: usize,
    to: usize,
    most: i128,
    by: (&'a Span, &'a Span),
}

/// The least upper bound of `x[to] - x[from]`, by `from` and `to`.
struct Bounds(Vec<Vec<i128>>);

impl Bounds {
    fn shift(&self, host: usize, reference: usize) -> Shift {
        Shift { lo: -self.0[host][reference], hi: self.0[reference][host] }
    }

    fn is_bounded(&self, a: usize, b: usize) -> bool {
        self.0[a][b] < UNBOUNDED && self.0[b][a] < UNBOUNDED
    }
}

impl<'a> Clocks<'a> {
    fn new(spans: &'a Spans, hosts: &'a [&'a str]) -> Clocks<'a> {
        let host_of: Vec<usize> = spans
            .resources
            .iter()
            .map(|resource| hosts.binary_search(&resource.host.as_str()).expect("every host is listed"))
            .collect();
        let count = hosts.len();
        let (mut operations, mut extents) = (vec![0; count], vec![None; count]);
        let (mut drifts, mut errors) = (vec![None; count], vec![None; count]);
        for (resource, &host) in spans.resources.iter().zip(&host_of) {
            drifts[host] = drifts[host].max(resource.clock_drift);
            errors[host] = errors[host].max(resource.clock_error);
        }
        for span in &spans.list {
            let host = host_of[span.resource];
            operations[host] += u64::from(span.content.operation.is_some());
            let (start, end) = (span.content.start, span.content.end.unwrap_or(span.content.start));
            let (from, to) = extents[host].unwrap_or((start, end));
            extents[host] = Some((start.min(from), end.max(to)));
        }
        let constraints = constraints(spans, &host_of);
        let drifts = drifts.into_iter().map(|drift| drift.unwrap_or(DRIFT)).collect();
        Clocks { hosts, operations, extents, drifts, errors, constraints }
    }

    fn name(&self, host: usize) -> String {
        match self.hosts.get(host) {
            None => "true time".into(),
            Some(&"") => "the host without a name".into(),
            Some(name) => format!("host `{}`", name.escape_debug()),
        }
    }

    /// All bounds, if the trace lasts for `length`.
    fn bounds(&self, length: i128) -> Result<Bounds, FormatError> {
        let count = self.hosts.len() + 1;
        let mut all = vec![vec![UNBOUNDED; count]; count];
        let mut tightest: HashMap<(usize, usize), &Constraint<'_>> = HashMap::new();
        for constraint in &self.constraints {
            let Constraint { from, to, most, .. } = *constraint;
            let drift = i128::from(self.drifts[from]) + i128::from(self.drifts[to]);
            let most = most + (drift * length + 999_999) / 1_000_000;
            if most < all[from][to] {
                all[from][to] = most;
                tightest.insert((from, to), constraint);
            }
        }
        for &Constraint { from, to, .. } in &self.constraints {
            if all[from][to] + all[to][from] < 0 {
                let by = [tightest[&(from, to)], tightest[&(to, from)]];
                return Err(self.stepped(from, to, by));
            }
        }
        for (host, error) in self.errors.iter().enumerate() {
            if let Some(error) = error {
                let error = i128::from(*error);
                all[host][count - 1] = all[host][count - 1].min(error);
                all[count - 1][host] = all[count - 1][host].min(error);
            }
        }
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let (first, second) = (all[from][via], all[via][to]);
                    if first < UNBOUNDED && second < UNBOUNDED {
                        all[from][to] = all[from][to].min(first + second);
                    }
                }
            }
        }
        if let Some(host) = (0..count).find(|&host| all[host][host] < 0) {
            return Err(self.contradiction(host));
        }
        (0..count).for_each(|host| all[host][host] = 0);
        Ok(Bounds(all))
    }

    /// The clock against which operations are least uncertain, if there is one that all can be compared with.
    fn reference(&self, bounds: &Bounds, with_operations: &[usize]) -> Option<usize> {
        let comparable = |&reference: &usize| with_operations.iter().all(|&host| bounds.is_bounded(host, reference));
        let uncertainty = |&reference: &usize| -> i128 {
            let of_host = |&host: &usize| {
                let Shift { lo, hi } = bounds.shift(host, reference);
                (hi - lo).saturating_mul(i128::from(self.operations[host]))
            };
            with_operations.iter().map(of_host).fold(0, i128::saturating_add)
        };
        (0..=self.hosts.len()).filter(comparable).min_by_key(uncertainty)
    }

    /// An upper bound on the length of the trace, without any bounds between clocks.
    fn longest(&self) -> i128 {
        let sum: i128 = self.extents.iter().flatten().map(|(from, to)| i128::from(to - from)).sum();
        let declared =
            || self.extents.iter().zip(&self.errors).filter_map(|(extent, error)| Some(((*extent)?, (*error)?)));
        let from = declared().map(|((from, _), error)| i128::from(from) - i128::from(error)).min();
        let to = declared().map(|((_, to), error)| i128::from(to) + i128::from(error)).max();
        sum + to.zip(from).map_or(0, |(to, from)| to - from)
    }

    /// A better one, on the clock of the reference, if every host can be compared with it.
    fn length(&self, bounds: &Bounds, reference: usize) -> Option<i128> {
        let (mut from, mut to) = (i128::MAX, i128::MIN);
        for (host, extent) in self.extents.iter().enumerate() {
            let Some((start, end)) = *extent else { continue };
            if !bounds.is_bounded(host, reference) {
                return None;
            }
            let shift = bounds.shift(host, reference);
            (from, to) = (from.min(i128::from(start) + shift.lo), to.max(i128::from(end) + shift.hi));
        }
        Some(to.saturating_sub(from))
    }

    fn stepped(&self, a: usize, b: usize, [first, second]: [&Constraint<'_>; 2]) -> FormatError {
        let pair = |constraint: &Constraint<'_>| {
            let (parent, child) = constraint.by;
            format!("{:016x} and {:016x}", parent.id, child.id)
        };
        let line = first.by.0.line;
        let message = format!(
            "no offset between the clocks of {} and {} fits all spans: a clock was set during the trace (compare spans \
             {} with {})",
            self.name(a),
            self.name(b),
            pair(first),
            pair(second)
        );
        FormatError::new(Location::Line(line), message).help("record again, or check the parts of the trace separately")
    }

    fn contradiction(&self, host: usize) -> FormatError {
        let message =
            format!("no offsets between clocks fit all spans and errors; one of the clocks is {}", self.name(host));
        FormatError::new(Location::Line(1), message)
            .help("a clock was set during the trace, or an `omnilink.clock_error` is too small")
    }

    fn incomparable(&self, spans: &Spans, bounds: &Bounds, first: usize, with_operations: &[usize]) -> FormatError {
        let other = with_operations.iter().copied().find(|&host| !bounds.is_bounded(first, host)).unwrap_or(first);
        let host = self.hosts.get(other).copied().unwrap_or_default();
        let is_there = |span: &&Span| span.content.operation.is_some() && spans.resources[span.resource].host == host;
        let line = spans.list.iter().find(is_there).map_or(1, |span| span.line);
        let message = format!("the clocks of {} and {} cannot be compared", self.name(first), self.name(other));
        FormatError::new(Location::Line(line), message).help(
            "record the calls between hosts as client and server spans, give the maximum error of each clock as the \
             resource attribute `omnilink.clock_error` in nanoseconds, or give hosts that share a clock the same \
             `host.name`",
        )
    }
}

fn constraints<'a>(spans: &'a Spans, host_of: &[usize]) -> Vec<Constraint<'a>> {
    let mut by_id: HashMap<(u128, u64), Vec<&Span>> = HashMap::new();
    let mut servers: HashMap<(u128, u64), u32> = HashMap::new(); // Server spans, by their parent.
    for span in &spans.list {
        by_id.entry((span.trace, span.id)).or_default().push(span);
        if let (Some(parent), Kind::Server) = (span.content.parent, span.content.kind) {
            *servers.entry((span.trace, parent)).or_default() += 1;
        }
    }
    let mut all = Vec::new();
    for child in &spans.list {
        let Some(id) = child.content.parent.map(|parent| (child.trace, parent)) else { continue };
        // Two spans may share an identifier, on the two sides of a call. Then it is unknown which is the parent.
        let Some([parent]) = by_id.get(&id).map(Vec::as_slice) else { continue };
        let (from, to) = (host_of[parent.resource], host_of[child.resource]);
        if from == to {
            continue;
        }
        let (earliest, latest) = (&parent.content, &child.content);
        let latest_start = i128::from(latest.start) + i128::from(latest.precision);
        all.push(Constraint {
            from: to,
            to: from,
            most: latest_start - i128::from(earliest.start),
            by: (parent, child),
        });
        let is_answered = parent.content.kind == Kind::Client
            && child.content.kind == Kind::Server
            && !parent.content.is_error
            && parent.content.operation.as_ref().is_none_or(|operation| operation.is_answered())
            && servers.get(&id) == Some(&1);
        if let Some(end) = parent.content.end.filter(|_| is_answered) {
            all.push(Constraint { from, to, most: i128::from(end) - i128::from(latest.start), by: (parent, child) });
        }
    }
    all
}
