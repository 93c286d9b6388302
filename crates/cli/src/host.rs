//! The command's services for campaigns: interrupts, limits, and build tools for harnesses.

use std::time::Duration;

use omnilink_campaign::{Host, Tools};

use crate::args::Progress;
use crate::kit;
use crate::limits::{Limits, Settings, is_interrupted};

pub(crate) const HOST: Host = Host { is_interrupted, limits, tools };

fn limits(timeout: Option<Duration>, label: &str) -> Box<dyn omnilink_judge::Limits> {
    let max_memory = omnilink_judge::CheckOptions::default().max_memory;
    Box::new(Limits::new(&Settings { timeout, max_memory, progress: Progress::None }, label))
}

fn tools() -> Result<Tools, String> {
    Ok(Tools { kit: kit::kit()?, path: kit::path(), said: kit::said_to_rust() })
}
