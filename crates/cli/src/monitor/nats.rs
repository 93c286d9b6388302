//! Sources that are streams of NATS: their addresses, and the client if this command was built with it.

use std::sync::Arc;

use omnilink_judge::InputError;
use omnilink_monitor::share::{Log, Store};

#[cfg(feature = "nats")]
use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;
use crate::terminal::complain;

/// A stream of NATS.
pub(super) struct Address {
    servers: String,
    pub(super) stream: String,
}

type Connected = (Arc<dyn Log>, Arc<dyn Store>);

impl Address {
    /// The stream that the source is, if it is one: `nats://HOST:PORT/STREAM`.
    pub(super) fn read(args: &MonitorArgs) -> Result<Option<Address>, Exit> {
        let source = args.source.to_string_lossy();
        if !matches!(source.split_once("://"), Some(("nats" | "tls", _))) {
            return Ok(None);
        }
        let mistake = |message: &str, help: &str| {
            complain("SOURCE", &InputError { message: message.to_owned(), help: Some(help.to_owned()) })
        };
        // It would show in lists of processes, and on pages.
        if source.contains('@') {
            return Err(mistake("the address holds a password", "name a file with `--credentials`"));
        }
        match source.rsplit_once('/') {
            Some((servers, stream)) if !stream.is_empty() && !servers.ends_with('/') => {
                Ok(Some(Address { servers: servers.to_owned(), stream: stream.to_owned() }))
            }
            _ => Err(mistake("the name of the stream is missing", "write `nats://127.0.0.1:4222/STREAM`")),
        }
    }

    /// The stream, and the store with the states of its group.
    #[cfg(feature = "nats")]
    pub(super) fn connect(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        let options = omnilink_nats::NatsOptions {
            servers: &self.servers,
            stream: &self.stream,
            partitions: args.partitions,
            group: &args.group,
            credentials: args.credentials.as_deref(),
        };
        let nats = Arc::new(omnilink_nats::Nats::connect(&options).map_err(|error| wrong(&args.source, error))?);
        Ok((nats.clone(), nats))
    }

    #[cfg(not(feature = "nats"))]
    pub(super) fn connect(&self, args: &MonitorArgs) -> Result<Connected, Exit> {
        let message = format!("this command cannot read `{}` of {}", self.stream, self.servers);
        let help = Some("it was built without the feature `nats`".to_owned());
        Err(complain(&args.source.display().to_string(), &InputError { message, help }))
    }
}
