//! Puts and gets through the gateway of etcd, which speaks JSON over HTTP.
//!
//! Every request has a connection of its own and is sent once. A client that sent a put again by itself could make it
//! take effect twice, and the recording would say that it was made once.

use std::io;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use ureq::Agent;

/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Lost {
    /// The node was not even reached: nothing has happened.
    Refused,
    /// It may have happened, or may still happen.
    Unknown,
}

pub struct Client {
    agent: Agent,
}

impl Client {
    pub fn new() -> Client {
        let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).max_idle_connections(0);
        Client { agent: config.build().into() }
    }

    /// Puts a value under a key.
    pub fn put(&self, url: &str, key: &str, value: i64) -> Result<(), Lost> {
        let body = json!({ "key": encode(key), "value": encode(&value.to_string()) });
        self.post(&format!("{url}/v3/kv/put"), &body).map(drop)
    }

    /// What a node finds under a key. One that is asked for a serializable read does not ask the others.
    pub fn get(&self, url: &str, key: &str, is_serializable: bool) -> Result<Option<i64>, Lost> {
        let body = json!({ "key": encode(key), "serializable": is_serializable });
        let answer = self.post(&format!("{url}/v3/kv/range"), &body)?;
        match answer["kvs"][0]["value"].as_str() {
            Some(value) => decode(value).map(Some).ok_or(Lost::Unknown),
            None => Ok(None),
        }
    }

    fn post(&self, url: &str, body: &Value) -> Result<Value, Lost> {
        let answer = self.agent.post(url).send_json(body).and_then(|mut answer| answer.body_mut().read_json());
        answer.map_err(|error| match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => Lost::Refused,
            _ => Lost::Unknown,
        })
    }
}

fn encode(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn decode(text: &str) -> Option<i64> {
    String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()?.parse().ok()
}
