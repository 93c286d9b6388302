//! The command's services for campaigns: interrupts, limits, and build tools for harnesses.

use std::time::Duration;

use campaign::{Host, Tools};

use crate::args::Progress;
use crate::build;
use crate::limits::{Limits, Settings, is_interrupted};

pub(crate) const HOST: Host = Host { is_interrupted, limits, tools };

fn limits(timeout: Option<Duration>, label: &str) -> Box<dyn judge::Limits> {
    let max_memory = judge::Options::default().max_memory;
    Box::new(Limits::new(&Settings { timeout, max_memory, progress: Progress::None }, label))
}

fn tools() -> Result<Tools, String> {
    Ok(Tools { kit: build::kit()?, path: build::path(), said: build::said_to_rust() })
}
