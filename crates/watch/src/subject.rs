//! The subject of a watch: operations with their specification, or transactions with their level.

use std::sync::Arc;

use omnilink_judge::Judge;
use omnilink_monitor::{BadCheckpoint, Checkpoint, LineMonitor, Monitor, TransactionMonitor, TransactionOptions};
use serde_json::Value;

use crate::error::WatchError;
use crate::options::WatchOptions;

/// The subject of a watch.
#[derive(Clone)]
pub enum Subject {
    /// Operations, and the specification that they are checked against.
    Operations(Arc<Judge>),
    /// Transactions, and the options of their monitor.
    Transactions(TransactionOptions),
}

impl From<Judge> for Subject {
    fn from(judge: Judge) -> Subject {
        Subject::Operations(Arc::new(judge))
    }
}

impl From<Arc<Judge>> for Subject {
    fn from(judge: Arc<Judge>) -> Subject {
        Subject::Operations(judge)
    }
}

impl From<TransactionOptions> for Subject {
    fn from(options: TransactionOptions) -> Subject {
        Subject::Transactions(options)
    }
}

impl Subject {
    /// Makes a new monitor.
    pub(crate) fn monitor(self, options: &WatchOptions) -> Result<Box<dyn LineMonitor>, WatchError> {
        Ok(match self {
            Subject::Operations(judge) => Box::new(Monitor::new(judge, options.monitor.clone())),
            Subject::Transactions(transactions) => {
                let monitor = TransactionMonitor::new(transactions);
                Box::new(monitor.map_err(|error| WatchError::new("transactions", error))?)
            }
        })
    }

    /// Reads the monitor from a stored state, and its position in the input.
    pub(crate) fn read(
        self,
        text: &str,
        options: &WatchOptions,
    ) -> Result<(Value, Box<dyn LineMonitor>), BadCheckpoint> {
        Ok(match self {
            Subject::Operations(judge) => {
                let read = Checkpoint::read(text, &options.subject, judge, options.monitor.clone());
                let Checkpoint { position, monitor } = read?;
                (position, Box::new(monitor))
            }
            Subject::Transactions(transactions) => {
                let read = Checkpoint::read_transactions(text, &options.subject, transactions);
                let Checkpoint { position, monitor } = read?;
                (position, Box::new(monitor))
            }
        })
    }
}
