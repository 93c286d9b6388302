//! The command's services for campaigns: interrupts, limits, and build tools for harnesses.

use std::time::Duration;

use campaign::{Host, Tools};

use crate::args::Progress;
use crate::limits::{Limits, Settings, is_interrupted};
use crate::tools;

pub(crate) const HOST: Host = Host { is_interrupted, limits, tools };

fn limits(timeout: Option<Duration>, label: &str) -> Box<dyn judge::Limits> {
    let max_memory = judge::Options::default().max_memory;
    Box::new(Limits::new(&Settings { timeout, max_memory, progress: Progress::None }, label))
}

fn tools() -> Result<Tools, String> {
    Ok(Tools { kit: tools::kit()?, path: tools::path(), said: tools::said_to_rust() })
}
