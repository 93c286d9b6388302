//! A program that embeds a monitor: follows a file or a directory that grows, or reads standard input, and prints alerts.
//!
//! ```sh
//! cargo run -p omnilink-watch --example follow -- register:initial=0 trace.jsonl
//! cargo run -p omnilink-watch --example follow -- register:initial=0 < examples/monitor.jsonl
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "that is what it is for")]

use std::path::Path;

use omnilink_judge::{CheckOptions, Judge};
use omnilink_monitor::{Alert, MonitorOptions};
use omnilink_watch::{Notice, Outlet, ReadOptions, Source, Watch, WatchError, WatchOptions};

/// Prints alerts and notices.
struct Terminal;

impl Outlet for Terminal {
    fn alerts(&self, _partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError> {
        for Alert { number, kind, sentence, .. } in alerts {
            println!("{number}: {kind:?}: {}", sentence.escape_debug());
        }
        Ok(())
    }

    fn notice(&self, notice: Notice) {
        eprintln!("{}", notice.to_string().escape_debug());
    }
}

fn main() -> Result<(), WatchError> {
    let mut arguments = std::env::args().skip(1);
    let spec = arguments.next().expect("a specification");
    let judge =
        Judge::new(&spec, CheckOptions::default()).map_err(|failed| WatchError::new(&*spec, failed.message()))?;
    // Turns of 100 ms: a silent process holds up nothing for longer than ten seconds.
    let monitor = MonitorOptions { idle: Some(100), ..MonitorOptions::default() };
    let watch = Watch::begin(judge, WatchOptions { monitor, ..WatchOptions::default() }, None)?;
    let reading = ReadOptions::default();
    let source = match arguments.next() {
        Some(path) => Source::open(Path::new(&path), watch.position(), &reading)?,
        None => Source::lines("standard input", std::io::stdin(), watch.position(), &reading),
    };
    let counts = watch.run(source, &Terminal)?;
    println!("{} of {} operations checked, {} violations", counts.checked, counts.operations, counts.violations);
    Ok(())
}
