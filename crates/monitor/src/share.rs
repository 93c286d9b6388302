//! Several monitors share the partitions of a log, and take over the partitions of a dead one.
//!
//! They share only a store of entries. A monitor can replace an entry only if it knows the revision of the entry:
//!
//! ```text
//!  member.M            a beat: replaced again and again while monitor M lives
//!  partition.P         the monitor that owns partition P, and the names of the parts of its state
//!  state.P.M.N.I       part I of the state that M stored as its N-th, never replaced
//! ```
//!
//! **Exactly once.** The state of a partition holds the position in the log that it belongs to. One replacement of
//! `partition.P` makes it the state, and proves that the monitor still owns the partition: a monitor that others took for
//! dead fails there, and forgets the partition. So every operation is part of exactly one state, no matter which monitor or
//! store dies when. If the answer of the store is lost, the monitor cannot know whether it stored the state; it forgets the
//! partition as well, and claims it again.
//!
//! **Clocks.** A monitor takes another one for dead if the beat of the other one has not changed for the length of the
//! lease, on its own clock. It never compares clocks of different machines. A lease that is too short moves partitions back
//! and forth, but causes no wrong verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A store of entries with revisions.
pub trait Store: Send + Sync {
    /// Returns an entry, if there is one.
    fn get(&self, name: &str) -> Result<Option<Entry>, StoreError>;

    /// Writes an entry if its revision is this one, or if there is none and `revision` is `None`. Returns its new revision;
    /// `None` if it was not written.
    fn put(&self, name: &str, value: &[u8], revision: Option<u64>) -> Result<Option<u64>, StoreError>;

    /// Removes an entry.
    fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// Returns the names of all entries with this prefix.
    fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// The maximum size of an entry, in bytes.
    fn most_bytes(&self) -> usize;
}

/// A log in partitions, each of which is ordered.
pub trait Log: Send + Sync {
    /// The number of partitions.
    fn partitions(&self) -> u32;

    /// Passes on the messages of a partition after this position, and later ones as they arrive, until `sink` returns
    /// false. Calls it several times a second, without a message if there is none.
    fn follow(
        &self,
        partition: u32,
        after: Option<u64>,
        sink: &mut dyn FnMut(Vec<Message>) -> bool,
    ) -> Result<(), StoreError>;
}

/// A message of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Lines, at a position that grows within the partition.
    Lines {
        /// The position.
        at: u64,
        /// The lines.
        text: Vec<u8>,
    },
    /// Messages are gone, or may be.
    Missing(String),
}

/// An entry of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value.
    pub value: Vec<u8>,
    /// The revision, which grows with every replacement.
    pub revision: u64,
}

/// The store did not answer, or its answer is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// The monitor does not own the partition any more, or cannot know whether it does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// One of the monitors that share partitions.
pub struct Member {
    store: Arc<dyn Store>,
    name: String,
    partitions: u32,
    lease: Duration,
    /// The last beat of each member, and the time when it was first seen.
    beats: BTreeMap<String, (u64, Duration)>,
    count: u64,
}

/// A partition that this monitor owns.
pub struct Claim {
    store: Arc<dyn Store>,
    /// The partition.
    pub partition: u32,
    member: String,
    revision: u64,
    parts: Vec<String>,
    count: u64,
}

/// The work of a monitor in one turn.
#[derive(Default)]
pub struct Turn {
    /// Newly claimed partitions, each with its state.
    pub claimed: Vec<(Claim, Option<String>)>,
    /// The number of partitions that the monitor has to [release](Claim::release), so that others get them.
    pub surplus: usize,
    /// The number of living monitors.
    pub members: usize,
}

/// The entry of a partition.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Owned {
    owner: Option<String>,
    parts: Vec<String>,
}

impl Member {
    /// Makes a member with a unique name.
    pub fn new(store: Arc<dyn Store>, name: &str, partitions: u32, lease: Duration) -> Member {
        Member { store, name: name.to_owned(), partitions, lease, beats: BTreeMap::new(), count: 0 }
    }

    /// Shows that this monitor lives, and claims partitions without a living owner, up to its share. `running` are the
    /// partitions that it already runs. Call it several times during a lease; `now` is a time of a monotonic clock.
    pub fn turn(&mut self, now: Duration, running: &BTreeSet<u32>) -> Result<Turn, StoreError> {
        self.beat()?;
        let living = self.living(now)?;
        let share = (self.partitions as usize).div_ceil(living.len().max(1));
        let surplus = running.len().saturating_sub(share);
        let mut turn = Turn { claimed: Vec::new(), surplus, members: living.len() };
        let first = self.name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        for step in 0..self.partitions {
            // Members begin at different places, so that two seldom claim the same partition.
            let partition = (first.wrapping_add(step)) % self.partitions;
            if running.contains(&partition) {
                continue;
            }
            let entry = self.store.get(&partition_name(partition))?;
            let owned = entry.as_ref().map(read_owned).transpose()?.unwrap_or_default();
            let is_mine = owned.owner.as_ref() == Some(&self.name);
            let is_free = is_mine || owned.owner.as_ref().is_none_or(|owner| !living.contains(owner));
            let revision = entry.map(|entry| entry.revision);
            if is_free && running.len() + turn.claimed.len() < share {
                turn.claimed.extend(self.claim(partition, revision, owned)?);
            } else if is_mine {
                // The monitor lost it when the store did not answer, and others do not know that.
                let free = write_owned(&Owned { owner: None, ..owned });
                self.store.put(&partition_name(partition), &free, revision)?;
            }
        }
        Ok(turn)
    }

    /// Announces the end of this monitor, after it has released all partitions.
    pub fn leave(&self) -> Result<(), StoreError> {
        self.store.delete(&member_name(&self.name))
    }

    fn beat(&mut self) -> Result<(), StoreError> {
        self.count += 1;
        let name = member_name(&self.name);
        let revision = self.store.get(&name)?.map(|entry| entry.revision);
        // If another member has removed the entry meanwhile, the next beat writes it again.
        self.store.put(&name, self.count.to_string().as_bytes(), revision)?;
        Ok(())
    }

    /// The members whose beat has changed within a lease. Removes entries of members that died long ago.
    fn living(&mut self, now: Duration) -> Result<BTreeSet<String>, StoreError> {
        let mut living = BTreeSet::from([self.name.clone()]);
        let mut beats = BTreeMap::new();
        for entry in self.store.names("member.")? {
            let name = entry.strip_prefix("member.").unwrap_or_default().to_owned();
            let Some(Entry { revision, .. }) = self.store.get(&entry)? else { continue };
            let seen = self.beats.get(&name).filter(|(known, _)| *known == revision);
            let since = seen.map_or(now, |(_, since)| *since);
            let silent = now.saturating_sub(since);
            if silent < self.lease {
                living.insert(name.clone());
            } else if silent > self.lease * 10 && name != self.name {
                self.store.delete(&entry)?;
                continue;
            }
            beats.insert(name, (revision, since));
        }
        self.beats = beats;
        Ok(living)
    }

    /// Becomes the owner, unless another member was faster.
    fn claim(
        &self,
        partition: u32,
        revision: Option<u64>,
        owned: Owned,
    ) -> Result<Option<(Claim, Option<String>)>, StoreError> {
        let parts = owned.parts;
        let value = write_owned(&Owned { owner: Some(self.name.clone()), parts: parts.clone() });
        let Some(revision) = self.store.put(&partition_name(partition), &value, revision)? else { return Ok(None) };
        let mut text = Vec::new();
        for part in &parts {
            let missing = || StoreError(format!("the entry `{part}` of partition {partition} is missing"));
            text.extend(self.store.get(part)?.ok_or_else(missing)?.value);
        }
        let text = String::from_utf8(text).map_err(|error| StoreError(error.to_string()))?;
        // Parts of a state that a dead member did not finish.
        for name in self.store.names(&format!("state.{partition}."))? {
            if !parts.contains(&name) {
                self.store.delete(&name)?;
            }
        }
        let (store, member) = (self.store.clone(), self.name.clone());
        let state = (!parts.is_empty()).then_some(text);
        // Names of parts are unique: the revision is new with every claim.
        Ok(Some((Claim { store, partition, member, revision, parts, count: revision << 20 }, state)))
    }
}

impl Claim {
    /// Stores the state.
    pub fn write(&mut self, text: &str) -> Result<(), Lost> {
        self.replace(text, Some(self.member.clone()))
    }

    /// Stores the state, and lets another member own the partition.
    pub fn release(mut self, text: &str) -> Result<(), Lost> {
        self.replace(text, None)
    }

    fn replace(&mut self, text: &str, owner: Option<String>) -> Result<(), Lost> {
        let unknown = |error: StoreError| Lost(format!("partition {}: {error}", self.partition));
        self.count += 1;
        let mut parts = Vec::new();
        for (place, part) in text.as_bytes().chunks(self.store.most_bytes().max(1)).enumerate() {
            let mut name = format!("state.{}.", self.partition);
            let _ = write!(name, "{}.{}.{place}", self.member, self.count);
            self.store.put(&name, part, None).map_err(unknown)?;
            parts.push(name);
        }
        let value = write_owned(&Owned { owner, parts: parts.clone() });
        let name = partition_name(self.partition);
        let written = self.store.put(&name, &value, Some(self.revision)).map_err(unknown)?;
        let Some(revision) = written else {
            return Err(Lost(format!("partition {} belongs to another monitor now", self.partition)));
        };
        self.revision = revision;
        for old in std::mem::replace(&mut self.parts, parts) {
            // The next claim removes parts that stay.
            let _ = self.store.delete(&old);
        }
        Ok(())
    }
}

fn member_name(member: &str) -> String {
    format!("member.{member}")
}

fn partition_name(partition: u32) -> String {
    format!("partition.{partition}")
}

fn read_owned(entry: &Entry) -> Result<Owned, StoreError> {
    serde_json::from_slice(&entry.value).map_err(|error| StoreError(format!("not the entry of a partition: {error}")))
}

fn write_owned(owned: &Owned) -> Vec<u8> {
    serde_json::to_vec(owned).expect("strings serialize to JSON")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU8, Ordering};

    use fastrand::Rng;

    use super::*;

    /// A store in memory that loses requests and answers.
    #[derive(Default)]
    struct Memory {
        entries: Mutex<(u64, BTreeMap<String, Entry>)>,
        random: Mutex<Rng>,
        /// One of this many requests fails; none if 0.
        failing: AtomicU8,
    }

    impl Memory {
        fn fails(&self) -> bool {
            let failing = self.failing.load(Ordering::Relaxed);
            failing > 0 && self.random.lock().expect("no panic").u8(..failing) == 0
        }

        fn answer<T>(&self, act: impl FnOnce(&mut u64, &mut BTreeMap<String, Entry>) -> T) -> Result<T, StoreError> {
            let failed = || StoreError("the store does not answer".to_owned());
            if self.fails() {
                return Err(failed());
            }
            let (revision, entries) = &mut *self.entries.lock().expect("no panic");
            let answer = act(revision, entries);
            if self.fails() { Err(failed()) } else { Ok(answer) }
        }
    }

    impl Store for Memory {
        fn get(&self, name: &str) -> Result<Option<Entry>, StoreError> {
            self.answer(|_, entries| entries.get(name).cloned())
        }

        fn put(&self, name: &str, value: &[u8], revision: Option<u64>) -> Result<Option<u64>, StoreError> {
            self.answer(|last, entries| {
                if entries.get(name).map(|entry| entry.revision) != revision {
                    return None;
                }
                *last += 1;
                entries.insert(name.to_owned(), Entry { value: value.to_owned(), revision: *last });
                Some(*last)
            })
        }

        fn delete(&self, name: &str) -> Result<(), StoreError> {
            self.answer(|_, entries| drop(entries.remove(name)))
        }

        fn names(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
            self.answer(|_, entries| entries.keys().filter(|name| name.starts_with(prefix)).cloned().collect())
        }

        fn most_bytes(&self) -> usize {
            3
        }
    }

    const LEASE: Duration = Duration::from_secs(10);
    const PARTITIONS: u32 = 5;
    /// The number of operations of each partition.
    const OPERATIONS: u64 = 40;

    /// A monitor: its partitions, each with its position in the log and the sum of the messages before it.
    struct Simulated {
        member: Member,
        running: BTreeMap<u32, (Claim, u64, u64)>,
        asleep_until: Duration,
    }

    impl Simulated {
        fn new(store: &Arc<Memory>, name: &str) -> Simulated {
            let member = Member::new(store.clone(), name, PARTITIONS, LEASE);
            Simulated { member, running: BTreeMap::new(), asleep_until: Duration::ZERO }
        }

        fn act(&mut self, now: Duration, random: &mut Rng) {
            if random.u8(..3) == 0
                && let Ok(turn) = self.member.turn(now, &self.running.keys().copied().collect())
            {
                for (claim, text) in turn.claimed {
                    let text = text.unwrap_or("0 0".to_owned());
                    let (position, sum) = text.split_once(' ').expect("a state");
                    let state = (position.parse().expect("a number"), sum.parse().expect("a number"));
                    self.running.insert(claim.partition, (claim, state.0, state.1));
                }
                for _ in 0..turn.surplus {
                    let Some((_, (claim, position, sum))) = self.running.pop_first() else { break };
                    let _ = claim.release(&format!("{position} {sum}"));
                }
            }
            let mut lost = Vec::new();
            for (partition, (claim, position, sum)) in &mut self.running {
                for _ in 0..random.u64(..3) {
                    if *position < OPERATIONS {
                        *position += 1;
                        *sum += *position * *position;
                    }
                }
                if random.u8(..3) == 0 && claim.write(&format!("{position} {sum}")).is_err() {
                    lost.push(*partition);
                }
            }
            lost.iter().for_each(|partition| drop(self.running.remove(partition)));
        }
    }

    /// The state of a partition in the store.
    fn stored(store: &Memory, partition: u32) -> Option<String> {
        let owned = read_owned(&store.get(&partition_name(partition)).ok()??).ok()?;
        let parts = owned.parts.iter().map(|part| store.get(part).expect("no failures").expect("a part").value);
        String::from_utf8(parts.flatten().collect()).ok()
    }

    #[test]
    fn every_operation_is_counted_once_whatever_dies() {
        let (mut takeovers, mut failures) = (0, 0);
        for seed in 0..300 {
            let store = Arc::new(Memory::default());
            let mut random = Rng::with_seed(seed);
            *store.random.lock().expect("no panic") = Rng::with_seed(seed);
            let failing = if random.bool() { 0 } else { random.u8(5..40) };
            store.failing.store(failing, Ordering::Relaxed);
            let mut monitors: Vec<Simulated> = (0..3).map(|n| Simulated::new(&store, &format!("m{n}"))).collect();
            let (mut now, mut started) = (Duration::ZERO, 3);
            for _ in 0..400 {
                now += Duration::from_millis(random.u64(100..1500));
                let which = random.usize(..monitors.len());
                match random.u8(..60) {
                    // One monitor dies, and another one starts.
                    0 => {
                        takeovers += monitors[which].running.len();
                        monitors[which] = Simulated::new(&store, &format!("m{started}"));
                        started += 1;
                    }
                    // The others take it for dead, and it wakes up.
                    1 => monitors[which].asleep_until = now + LEASE * 2,
                    _ if now < monitors[which].asleep_until => {}
                    _ => monitors[which].act(now, &mut random),
                }
            }
            failures += u64::from(failing > 0);
            store.failing.store(0, Ordering::Relaxed);
            // No monitor dies from here on.
            for _ in 0..400 {
                now += Duration::from_millis(500);
                monitors.iter_mut().for_each(|monitor| monitor.act(now, &mut random));
            }
            let expected = format!("{OPERATIONS} {}", (1..=OPERATIONS).map(|number| number * number).sum::<u64>());
            for partition in 0..PARTITIONS {
                assert_eq!(stored(&store, partition).as_ref(), Some(&expected), "seed {seed}, partition {partition}");
            }
            let owned: Vec<usize> = monitors.iter().map(|monitor| monitor.running.len()).collect();
            assert_eq!(owned.iter().sum::<usize>(), PARTITIONS as usize, "seed {seed}: {owned:?}");
            assert!(owned.iter().all(|count| *count <= 2), "seed {seed}: {owned:?}");
            // Nothing is left behind.
            let parts = store.names("state.").expect("no failures").len();
            assert!(parts <= PARTITIONS as usize * expected.len().div_ceil(3) * 2, "seed {seed}: {parts} parts");
        }
        assert!(takeovers > 500 && failures > 100, "{takeovers} takeovers, {failures} runs with failures");
    }

    fn member(store: &Arc<Memory>, name: &str) -> Member {
        Member::new(store.clone(), name, PARTITIONS, LEASE)
    }

    /// The partitions that a member claims, how many it has to release, and the number of members.
    fn turn(member: &mut Member, now: Duration, running: &[u32]) -> (Vec<u32>, usize, usize) {
        let Turn { claimed, surplus, members } =
            member.turn(now, &running.iter().copied().collect()).expect("an answer");
        let mut partitions: Vec<u32> = claimed.iter().map(|(claim, _)| claim.partition).collect();
        partitions.sort_unstable();
        (partitions, surplus, members)
    }

    #[test]
    fn members_that_live_have_equal_shares() {
        let store = Arc::new(Memory::default());
        let (mut a, mut b) = (member(&store, "a"), member(&store, "b"));
        let all = [0, 1, 2, 3, 4];
        assert_eq!(turn(&mut a, Duration::ZERO, &[]), (all.to_vec(), 0, 1));
        assert_eq!(turn(&mut b, Duration::ZERO, &[]), (vec![], 0, 2));
        assert_eq!(turn(&mut a, Duration::ZERO, &all), (vec![], 2, 2));
        // It takes partitions that it owns but does not run, up to its share, and leaves the rest to others.
        let (again, surplus, _) = turn(&mut a, Duration::ZERO, &[]);
        assert_eq!((again.len(), surplus), (3, 0));
        let rest: Vec<u32> = all.into_iter().filter(|partition| !again.contains(partition)).collect();
        assert_eq!(turn(&mut b, Duration::ZERO, &[]), (rest, 0, 2));
    }

    #[test]
    fn a_member_without_a_beat_is_dead_after_a_lease_and_forgotten_after_ten() {
        let store = Arc::new(Memory::default());
        let (mut a, mut b) = (member(&store, "a"), member(&store, "b"));
        let instant = Duration::from_millis(1);
        let members = || store.names("member.").expect("no failures");
        turn(&mut a, Duration::ZERO, &[]);
        assert_eq!(turn(&mut b, Duration::ZERO, &[]), (vec![], 0, 2));
        assert_eq!(turn(&mut b, LEASE - instant, &[]), (vec![], 0, 2));
        assert_eq!(turn(&mut b, LEASE, &[]), (vec![0, 1, 2, 3, 4], 0, 1));
        turn(&mut b, LEASE * 10, &[0, 1, 2, 3, 4]);
        assert_eq!(members(), ["member.a", "member.b"]);
        turn(&mut b, LEASE * 10 + instant, &[0, 1, 2, 3, 4]);
        assert_eq!(members(), ["member.b"]);
        // A beat is seen again.
        assert_eq!(turn(&mut a, Duration::ZERO, &[]), (vec![], 0, 2));
        a.leave().expect("no failures");
        assert_eq!(members(), ["member.b"]);
    }

    #[test]
    fn a_state_is_replaced_by_its_owner_only() {
        let store = Arc::new(Memory::default());
        let (mut a, mut b) = (member(&store, "a"), member(&store, "b"));
        let claim = |member: &mut Member, now| {
            let claimed = member.turn(now, &BTreeSet::from([1, 2, 3, 4])).expect("an answer").claimed;
            claimed.into_iter().next().expect("a claim")
        };
        let parts = || store.names("state.").expect("no failures").len();
        let (mut of_a, state) = claim(&mut a, Duration::ZERO);
        assert_eq!((of_a.partition, state), (0, None));
        of_a.write("abcdefg").expect("it is the owner");
        assert_eq!(parts(), 3);
        of_a.write("xyz").expect("it is the owner");
        assert_eq!((parts(), stored(&store, 0)), (1, Some("xyz".to_owned())));
        b.turn(Duration::ZERO, &BTreeSet::new()).expect("an answer");
        let (of_b, state) = claim(&mut b, LEASE);
        assert_eq!(state.as_deref(), Some("xyz"));
        let lost = of_a.write("late").unwrap_err().to_string();
        assert_eq!(lost, "partition 0 belongs to another monitor now");
        of_b.release("new").expect("it is the owner");
        b.leave().expect("no failures");
        assert_eq!(claim(&mut a, Duration::ZERO).1.as_deref(), Some("new"));
        // A claim removes the parts of an unfinished state.
        assert_eq!(parts(), 1);
    }
}
