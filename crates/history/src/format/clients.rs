//! The processes of numbered clients.
//!
//! A process runs one operation at a time, and an operation of unknown outcome is its last. A client that calls
//! another operation before that continues as a new process, whose name has one more prime: after `3` comes `3'`.

use std::collections::HashMap;

use crate::{ProcessId, Trace};

/// The clients seen so far.
#[derive(Debug, Default)]
pub(super) struct Clients {
    clients: HashMap<u64, Client>,
}

#[derive(Debug)]
struct Client {
    process: ProcessId,
    name: String,
    is_busy: bool,
}

impl Clients {
    /// The process in which a client calls an operation. It is busy until [`Clients::finish`].
    pub(super) fn call(&mut self, trace: &mut Trace, client: u64) -> ProcessId {
        let mut add = |name: String| {
            trace.processes.push(name.as_str().into());
            Client { process: ProcessId(trace.processes.len() as u32 - 1), name, is_busy: true }
        };
        let client = self.clients.entry(client).or_insert_with(|| Client { is_busy: false, ..add(client.to_string()) });
        if client.is_busy {
            *client = add(format!("{}'", client.name));
        }
        client.is_busy = true;
        client.process
    }

    /// Lets a client call its next operation in the same process.
    pub(super) fn finish(&mut self, client: u64, process: ProcessId) {
        if let Some(client) = self.clients.get_mut(&client).filter(|client| client.process == process) {
            client.is_busy = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_client_continues_as_another_process() {
        let (mut clients, mut trace) = (Clients::default(), Trace::default());
        let first = clients.call(&mut trace, 3);
        clients.finish(3, first);
        assert_eq!(clients.call(&mut trace, 3), first);
        let second = clients.call(&mut trace, 3);
        clients.finish(3, first); // Too late: the client has another process.
        let third = clients.call(&mut trace, 3);
        assert_eq!([first, second, third].map(ProcessId::index), [0, 1, 2]);
        assert_eq!(trace.processes.iter().map(|name| &**name).collect::<Vec<_>>(), ["3", "3'", "3''"]);
    }
}
