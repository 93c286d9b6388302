//! A watch: one monitor on a whole input.

use std::path::Path;

use omnilink_monitor::Counts;

use crate::error::WatchError;
use crate::options::WatchOptions;
use crate::outlet::Outlet;
use crate::partition::{Partition, Restored, State};
use crate::source::{Position, Source};
use crate::state::StateFile;
use crate::subject::Subject;

/// A monitor of a whole input.
pub struct Watch {
    options: WatchOptions,
    restored: Restored,
    state: State,
}

impl Watch {
    /// Begins, or continues from the state in this file. The watch stores its state there.
    pub fn begin(
        subject: impl Into<Subject>,
        options: WatchOptions,
        state: Option<&Path>,
    ) -> Result<Watch, WatchError> {
        let subject = subject.into();
        let Some(path) = state else {
            let restored = Restored::new(subject, &options)?;
            return Ok(Watch { options, restored, state: State::None });
        };
        let file = StateFile::open(path)?;
        let restored = match file.read()? {
            Some(text) => Restored::read(&text, subject, &options).map_err(|error| WatchError::at(path, error))?,
            None => Restored::new(subject, &options)?,
        };
        Ok(Watch { options, restored, state: State::File(file) })
    }

    /// The number of alerts before the state was stored. The watch repeats later ones.
    pub fn alerts(&self) -> u64 {
        self.restored.monitor.alerts()
    }

    /// The position after which the source has to begin.
    pub fn position(&self) -> &Position {
        &self.restored.position
    }

    /// Watches until the input ends or the outlet stops it. Returns the counts, including those before the state was
    /// stored.
    pub fn run(self, source: Source, outlet: &dyn Outlet) -> Result<Counts, WatchError> {
        let mut partition = Partition::new(&self.options, None, self.restored, source, self.state);
        partition.run(outlet, &|| outlet.is_stopped())?;
        Ok(partition.monitor.counts())
    }
}
