//! A watch: one monitor on all of an input.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omnilink_judge::Judge;
use omnilink_monitor::{Counts, MonitorOptions};

use crate::error::WatchError;
use crate::outlet::Outlet;
use crate::partition::{Partition, Restored, State};
use crate::source::{Position, Source};
use crate::state::StateFile;
use crate::status::Status;

/// How to watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// How to monitor.
    pub monitor: MonitorOptions,
    /// What a stored state is about, such as the specification, the key and the unit of time: a state about something else
    /// is refused.
    pub subject: String,
    /// Check this often.
    pub every: Duration,
    /// Store the state this often.
    pub store_every: Duration,
    /// The length of the [intervals](crate::Interval) that an outlet gets.
    pub interval: Option<Duration>,
    /// The input ends when all operations have come: processes that have not said that they are over are over too.
    pub is_complete: bool,
    /// What to keep up to date. It takes a look at every key.
    pub status: Option<Status>,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        WatchOptions {
            monitor: MonitorOptions::default(),
            subject: String::new(),
            every: Duration::from_millis(100),
            store_every: Duration::from_secs(10),
            interval: None,
            is_complete: false,
            status: None,
        }
    }
}

/// A monitor that has all of an input to itself.
pub struct Watch {
    options: WatchOptions,
    restored: Restored,
    state: State,
}

impl Watch {
    /// Begins, or continues from the state in this file, which is stored there from then on.
    pub fn begin(
        judge: impl Into<Arc<Judge>>,
        options: WatchOptions,
        state: Option<&Path>,
    ) -> Result<Watch, WatchError> {
        let judge = judge.into();
        let Some(path) = state else {
            let restored = Restored::new(judge, &options);
            return Ok(Watch { options, restored, state: State::None });
        };
        let file = StateFile::open(path)?;
        let restored = match file.read()? {
            Some(text) => Restored::read(&text, judge, &options).map_err(|error| WatchError::at(path, error))?,
            None => Restored::new(judge, &options),
        };
        Ok(Watch { options, restored, state: State::File(file) })
    }

    /// The number of alerts before the state was stored. Later ones are told again.
    pub fn alerts(&self) -> u64 {
        self.restored.monitor.alerts()
    }

    /// The position after which the source has to begin.
    pub fn position(&self) -> &Position {
        &self.restored.position
    }

    /// Watches until the input ends or the outlet stops it. Returns what was counted, also before the state was stored.
    pub fn run(self, source: Source, outlet: &dyn Outlet) -> Result<Counts, WatchError> {
        let mut partition = Partition::new(&self.options, None, self.restored, source, self.state);
        partition.run(outlet, &|| outlet.is_stopped())?;
        Ok(partition.monitor.counts())
    }
}
