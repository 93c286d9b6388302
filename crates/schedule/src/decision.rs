//! The choices of an execution, and their text format.
//!
//! ```text
//! omnilink-schedule 1
//! 0*14 1*3 0 w1/2 2*5
//! ```
//!
//! Thread 0 makes 14 steps, thread 1 three, thread 0 one, in which the second of two waiting threads is woken; and so
//! on. Lines may have any length, and `#` starts a comment.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use bytemuck::{Pod, Zeroable};

/// The choice made at one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Decision {
    /// A [`Choice`].
    pub choice: u8,
    /// The thread, or the index among the options.
    pub chosen: u8,
    /// The number of options. Not set for threads: [`Step::enabled`](crate::Step::enabled) says more.
    pub options: u8,
    /// Padding.
    pub unused: u8,
}

/// The kind of choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Choice {
    /// The thread of the next step. If none is enabled, the thread that stops waiting among those whose timeout
    /// expires first.
    Thread,
    /// The thread that is woken.
    Wake,
    /// The store that a load reads, the last one first. Only with weak memory.
    Read,
}

impl Decision {
    /// This thread makes the next step.
    pub fn thread(thread: u8) -> Decision {
        Decision { choice: Choice::Thread as u8, chosen: thread, options: 0, unused: 0 }
    }

    /// One of several.
    pub fn one_of(choice: Choice, chosen: u8, options: u8) -> Decision {
        Decision { choice: choice as u8, chosen, options, unused: 0 }
    }

    /// Whether a load reads another store than the last one.
    pub fn is_outdated_read(&self) -> bool {
        self.choice() == Some(Choice::Read) && self.chosen > 0
    }

    /// The kind of choice, if the number is known.
    pub fn choice(&self) -> Option<Choice> {
        [Choice::Thread, Choice::Wake, Choice::Read].get(usize::from(self.choice)).copied()
    }
}

/// All choices of an execution, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule(pub Vec<Decision>);

impl Schedule {
    /// The number of times that the thread differs from that of the step before.
    pub fn switches(&self) -> usize {
        let threads: Vec<u8> = self.threads().collect();
        threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// The thread of each step.
    pub fn threads(&self) -> impl Iterator<Item = u8> {
        self.0.iter().filter(|decision| decision.choice() == Some(Choice::Thread)).map(|decision| decision.chosen)
    }
}

/// The first line of a file.
const HEADING: &str = "omnilink-schedule 1";

/// The line width.
const WIDTH: usize = 100;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        writeln!(f, "{HEADING}")?;
        for group in self.0.chunk_by(|a, b| a == b && a.choice() == Some(Choice::Thread)) {
            let (Decision { chosen, options, .. }, count) = (group[0], group.len());
            if line.len() > WIDTH {
                writeln!(f, "{}", line.trim_end())?;
                line.clear();
            }
            match group[0].choice() {
                Some(Choice::Wake) => write!(line, "w{chosen}/{options} ")?,
                Some(Choice::Read) => write!(line, "r{chosen}/{options} ")?,
                _ if count == 1 => write!(line, "{chosen} ")?,
                _ => write!(line, "{chosen}*{count} ")?,
            }
        }
        if line.is_empty() { Ok(()) } else { writeln!(f, "{}", line.trim_end()) }
    }
}

/// Why a text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchedule {
    /// It has another version.
    #[error("unsupported version `{found}` (expected `{expected}`)")]
    Version {
        /// The first line.
        found: String,
        /// The first line of the version that can be read.
        expected: &'static str,
    },
    /// It does not begin with the heading.
    #[error("it does not begin with `{HEADING}`")]
    Heading,
    /// A word is not a decision.
    #[error("line {line}: expected `THREAD`, `THREAD*COUNT`, `wCHOSEN/OPTIONS` or `rCHOSEN/OPTIONS`, found `{word}`")]
    Word {
        /// The line, from 1.
        line: usize,
        /// The word.
        word: String,
    },
    /// It has too many decisions to replay.
    #[error("it has more than {MOST} decisions")]
    TooLong,
}

/// More decisions than any execution makes.
const MOST: usize = 1 << 26;

impl FromStr for Schedule {
    type Err = BadSchedule;

    fn from_str(text: &str) -> Result<Schedule, BadSchedule> {
        let mut lines = text.lines().enumerate();
        let heading = lines.next().map_or("", |(_, line)| line.trim_end());
        if heading != HEADING {
            let is_schedule = heading.split(' ').next() == HEADING.split(' ').next();
            let version = BadSchedule::Version { found: heading.to_owned(), expected: HEADING };
            return Err(if is_schedule { version } else { BadSchedule::Heading });
        }
        let mut decisions = Vec::new();
        for (number, line) in lines {
            let line = line.split_once('#').map_or(line, |(decisions, _)| decisions);
            for word in line.split_whitespace() {
                let wrong = || BadSchedule::Word { line: number + 1, word: word.to_owned() };
                let (decision, count) = parse(word).ok_or_else(wrong)?;
                if count > MOST - decisions.len() {
                    return Err(BadSchedule::TooLong);
                }
                decisions.extend(std::iter::repeat_n(decision, count));
            }
        }
        Ok(Schedule(decisions))
    }
}

/// One word: a decision, and its repetitions.
fn parse(word: &str) -> Option<(Decision, usize)> {
    let one_of = |choice, rest: &str| {
        let (chosen, options) = rest.split_once('/')?;
        let (chosen, options) = (chosen.parse().ok()?, options.parse().ok()?);
        (chosen < options).then(|| (Decision::one_of(choice, chosen, options), 1))
    };
    if let Some(rest) = word.strip_prefix('w') {
        return one_of(Choice::Wake, rest);
    }
    if let Some(rest) = word.strip_prefix('r') {
        return one_of(Choice::Read, rest);
    }
    let (thread, count) = match word.split_once('*') {
        Some((thread, count)) => (thread, count.parse().ok().filter(|&count| count > 0)?),
        None => (word, 1),
    };
    let thread = thread.parse().ok().filter(|&thread| usize::from(thread) < crate::THREADS)?;
    Some((Decision::thread(thread), count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_schedule_is_short_to_read() {
        let mut schedule = Schedule(vec![Decision::thread(0); 14]);
        schedule.0.extend([Decision::thread(1), Decision::thread(0), Decision::one_of(Choice::Wake, 1, 2)]);
        schedule.0.extend([Decision::one_of(Choice::Read, 0, 3); 2]);
        insta::assert_snapshot!(schedule.to_string(), @r"
        omnilink-schedule 1
        0*14 1 0 w1/2 r0/3 r0/3
        ");
        assert_eq!(schedule.switches(), 2);
    }

    #[test]
    fn invalid_schedules_are_explained() {
        let check = |text: &str| text.parse::<Schedule>().unwrap_err().to_string();
        insta::assert_snapshot!(check(""), @"it does not begin with `omnilink-schedule 1`");
        insta::assert_snapshot!(check("omnilink-schedule 2\n0"), @"unsupported version `omnilink-schedule 2` (expected `omnilink-schedule 1`)");
        insta::assert_snapshot!(check("omnilink-schedule 1\n0*2 # fine\n1 w2/2"), @"line 3: expected `THREAD`, `THREAD*COUNT`, `wCHOSEN/OPTIONS` or `rCHOSEN/OPTIONS`, found `w2/2`");
        insta::assert_snapshot!(check("omnilink-schedule 1\n0*99999999999"), @"it has more than 67108864 decisions");
        for word in ["64", "0*0", "-1", "r0", "x", "0*-3"] {
            assert!(
                matches!(format!("{HEADING}\n{word}").parse::<Schedule>(), Err(BadSchedule::Word { .. })),
                "{word}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_schedule_is_read_as_it_was_written(
            choices in prop::collection::vec((0..3u8, 0..60u8, 1..60u8), 0..200)
        ) {
            let decisions = choices.into_iter().map(|(choice, chosen, more)| match choice {
                0 => Decision::thread(chosen),
                1 => Decision::one_of(Choice::Wake, chosen, chosen + more),
                _ => Decision::one_of(Choice::Read, chosen, chosen + more),
            });
            let schedule = Schedule(decisions.collect());
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn any_text_is_a_schedule_or_an_error(text in ".*") {
            let _ = text.parse::<Schedule>();
            let _ = format!("{HEADING}\n{text}").parse::<Schedule>();
        }
    }
}
