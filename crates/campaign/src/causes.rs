//! The causes of the failing runs of a campaign: runs that fail for the same reason, at the same place, are one.
//!
//! Two bugs may break the same conjunct. So the runs of a controlled program are also distinguished by the conflicting
//! accesses: the place where an access of one thread came between two of another that depend on it.

use std::fmt::Write as _;
use std::time::Duration;

use omnilink_report::clean;
use omnilink_settings::Known;
use omnilink_suggest::counted;
use serde::{Deserialize, Serialize};

use crate::seen::Kind;

/// Runs that failed for the same reason.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    pub(crate) kind: Kind,
    pub(crate) cause: String,
    /// The message of the first run, if the cause is that message without its numbers.
    pub(crate) message: Option<String>,
    /// The place of the conflicting accesses, if it is known.
    pub(crate) meets: Option<String>,
    pub(crate) runs: u64,
    /// When the first one was found.
    pub(crate) after: Duration,
    /// The identifier of the first stored run.
    pub(crate) id: Option<String>,
    /// The known failure that it is.
    pub(crate) known: Option<KnownCause>,
}

impl Cause {
    /// Whether the settings accept it today.
    pub(crate) fn is_accepted(&self) -> bool {
        self.known.as_ref().is_some_and(|known| !known.is_expired)
    }
}

/// A failure that the settings accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownCause {
    /// Its name.
    pub name: String,
    /// Why it is accepted.
    pub reason: String,
    /// The last day of acceptance, such as `2026-12-31`.
    pub until: Option<String>,
    /// Whether that day is over, so that it is a failure again.
    pub is_expired: bool,
}

impl KnownCause {
    /// The entry of the settings that a failure matches, on this day.
    pub(crate) fn of(known: &[Known], cause: &str, meets: Option<&str>, today: &str) -> Option<KnownCause> {
        let matches = |known: &&Known| {
            let meets = known.meets.as_ref().is_none_or(|place| meets.is_some_and(|meets| meets.contains(place)));
            cause.contains(&known.cause) && meets
        };
        let known = known.iter().find(matches)?;
        Some(KnownCause {
            name: known.name.clone(),
            reason: known.reason.clone(),
            until: known.until.as_ref().map(ToString::to_string),
            is_expired: known.until.as_ref().is_some_and(|until| *today > *until.to_string()),
        })
    }

    /// The entry in a few words.
    pub(crate) fn text(&self) -> String {
        let until = match &self.until {
            Some(until) if self.is_expired => format!(", accepted until {until}, which is over"),
            Some(until) => format!(", accepted until {until}"),
            None => String::new(),
        };
        format!("{}{until}: {}", self.name, self.reason)
    }
}

/// The causes of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Causes(pub(crate) Vec<Cause>);

/// The maximum number of places to distinguish for one cause. A failing run is stored for each of them.
const MOST_PLACES: usize = 6;

impl Causes {
    /// Counts a run. Returns its cause, and whether it is the first one with it.
    pub(crate) fn add(&mut self, new: Cause) -> (&Cause, bool) {
        let is_alike = |cause: &&Cause| cause.kind == new.kind && cause.cause == new.cause;
        let is_same = |cause: &Cause| cause.meets == new.meets;
        let alike = self.0.iter().filter(is_alike).count();
        let mut place = self.0.iter().position(|cause| is_alike(&cause) && is_same(cause));
        // Beyond the limit it joins the first one.
        if place.is_none() && alike >= MOST_PLACES {
            place = self.0.iter().position(|cause| is_alike(&cause));
        }
        let is_first = place.is_none();
        let place = place.unwrap_or_else(|| {
            self.0.push(Cause { runs: 0, ..new });
            self.0.len() - 1
        });
        self.0[place].runs += 1;
        (&self.0[place], is_first)
    }

    /// Sets the identifier of the first stored run with this cause.
    pub(crate) fn name(&mut self, cause: &str, meets: Option<&str>, id: &str) {
        let is_it = |known: &&mut Cause| known.cause == cause && known.meets.as_deref() == meets && known.id.is_none();
        if let Some(known) = self.0.iter_mut().find(is_it) {
            known.id = Some(id.to_owned());
        }
    }

    /// The causes as a table, most frequent first. `is_new` is true if no earlier campaign had a cause.
    pub(crate) fn table(&self, runs: u64, is_new: impl Fn(&Cause) -> bool) -> String {
        let mut causes: Vec<&Cause> = self.0.iter().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.runs));
        let mut text = String::from("\n  runs  stored  share of runs (95 %)\n");
        for cause in causes {
            let id = cause.id.as_deref().unwrap_or_default();
            let new = if is_new(cause) { "  new" } else { "" };
            let _ = writeln!(text, "  {:>4}  {id:6}  {}{new}", cause.runs, share(cause.runs, runs));
            let (kind, why) = (cause.kind.word(), clean(cause.message.as_ref().unwrap_or(&cause.cause)));
            let why = why.strip_prefix("inconclusive: ").unwrap_or(&why);
            let _ = writeln!(text, "                {kind}: {why}");
            if let Some(meets) = &cause.meets {
                let _ = writeln!(text, "                {}", clean(meets));
            }
            if let Some(known) = &cause.known {
                let _ = writeln!(text, "                known as {}", clean(&known.text()));
            }
        }
        text
    }
}

/// The number of occurrences in a number of runs, with the 95 % confidence interval.
pub(crate) fn share(count: u64, runs: u64) -> String {
    let (low, high) = interval(count, runs);
    let percent = |share: f64| match share * 100.0 {
        small if small > 0.0 && small < 0.1 => format!("{small:.3}"),
        percent => format!("{percent:.1}"),
    };
    let rate = count as f64 / runs.max(1) as f64;
    let rare = if count > 0 && rate < 0.001 { format!(", 1 in {:.0}", 1.0 / rate) } else { String::new() };
    format!("{} % ({} to {} %){rare}", percent(rate), percent(low), percent(high))
}

/// The 95 % confidence interval of a probability (Wilson, Probable inference, the law of succession, and statistical
/// inference).
pub fn interval(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (n, z) = (trials as f64, 1.96_f64);
    let p = successes as f64 / n;
    let middle = p + z * z / (2.0 * n);
    let width = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((middle - width) / scale).max(0.0), ((middle + width) / scale).min(1.0))
}

/// The number of accepted failures of the settings, and the occurrences of each.
pub(crate) fn known_lines(causes: &[Cause]) -> String {
    let known = causes.iter().filter_map(|cause| Some((cause, cause.known.as_ref()?)));
    known.map(|(cause, known)| format!("known: {} ({})\n", clean(&known.text()), counted(cause.runs, "run"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(why: &str, meets: Option<&str>) -> Cause {
        Cause {
            kind: Kind::Rejected,
            cause: why.into(),
            message: None,
            meets: meets.map(str::to_owned),
            runs: 1,
            after: Duration::ZERO,
            id: None,
            known: None,
        }
    }

    #[test]
    fn an_interval_contains_the_rate() {
        let show = |(low, high): (f64, f64)| format!("{low:.3} {high:.3}");
        insta::assert_snapshot!(show(interval(1, 10)), @"0.018 0.404");
        insta::assert_snapshot!(show(interval(0, 100)), @"0.000 0.037");
        insta::assert_snapshot!(show(interval(5, 5)), @"0.566 1.000");
        insta::assert_snapshot!(show(interval(0, 0)), @"0.000 1.000");
        insta::assert_snapshot!(share(3, 87_000), @"0.003 % (0.001 to 0.010 %), 1 in 29000");
    }

    #[test]
    fn runs_with_one_cause_and_two_places_are_told_apart() {
        let mut causes = Causes::default();
        assert!(causes.add(cause("Dequeue: elem = Head(queue)", Some("main.rs:39"))).1);
        assert!(causes.add(cause("Dequeue: elem = Head(queue)", Some("main.rs:43"))).1);
        assert!(!causes.add(cause("Dequeue: elem = Head(queue)", Some("main.rs:43"))).1);
        causes.name("Dequeue: elem = Head(queue)", Some("main.rs:43"), "34f9ca");
        insta::assert_snapshot!(causes.table(100, |cause| cause.runs == 1), @r"

          runs  stored  share of runs (95 %)
             2  34f9ca  2.0 % (0.6 to 7.0 %)
                        rejected: Dequeue: elem = Head(queue)
                        main.rs:43
             1          1.0 % (0.2 to 5.4 %)  new
                        rejected: Dequeue: elem = Head(queue)
                        main.rs:39
        ");
        for line in 0..20 {
            causes.add(cause("Dequeue: elem = Head(queue)", Some(&format!("main.rs:{line}"))));
        }
        assert_eq!(causes.0.len(), MOST_PLACES);
        assert_eq!(causes.0.iter().map(|cause| cause.runs).sum::<u64>(), 23);
    }

    #[test]
    fn a_known_failure_is_accepted_until_its_day() {
        let known = omnilink_settings::Settings::parse(
            "[[known]]\nname = \"#412\"\ncause = \"Head(queue)\"\nreason = \"fixed in 2.0\"\nuntil = \"2026-12-31\"\n",
        );
        let known = known.unwrap().known;
        let at = |cause: &str, day: &str| KnownCause::of(&known, cause, None, day).map(|known| known.is_expired);
        assert_eq!(at("Dequeue: elem = Head(queue) is FALSE", "2026-12-31"), Some(false));
        assert_eq!(at("Dequeue: elem = Head(queue) is FALSE", "2027-01-01"), Some(true));
        assert_eq!(at("DequeueEmpty: queue = <<>> is FALSE", "2026-12-31"), None);
    }
}
