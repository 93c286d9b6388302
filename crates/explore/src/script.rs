//! Scripts: the calls of a run, one a line, as a harness writes and reads them.
//!
//! ```text
//! omnilink-script 1
//! T0 Enqueue elem=1
//! T1 Dequeue
//! ```
//!
//! Only the harness knows the calls. Here a line is a thread and a text, which is enough to leave lines out.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The first line of a script.
const HEADER: &str = "omnilink-script 1";

/// The calls of a run. Only the order of the calls of one thread counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Script {
    /// The calls, in the order of the lines.
    pub calls: Vec<ScriptedCall>,
}

/// A line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedCall {
    /// The number of the thread.
    pub thread: usize,
    /// The call with its arguments: `Enqueue elem=1`.
    pub call: String,
    /// The number of the line in its file, from 1; 0 if it is in none.
    pub line: usize,
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct BadScript {
    /// The number of the line, from 1.
    pub line: usize,
    /// The error.
    pub message: String,
}

impl Script {
    /// The threads that make a call, in order.
    pub fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.calls.iter().map(|call| call.thread).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The script without some calls, each given by its thread and its number there.
    pub fn without(&self, left_out: &[(usize, usize)]) -> Script {
        let numbered = self.calls.iter().enumerate().map(|(place, call)| {
            let before = self.calls[..place].iter().filter(|other| other.thread == call.thread);
            ((call.thread, before.count()), call)
        });
        let kept = numbered.filter(|(made, _)| !left_out.contains(made));
        Script { calls: kept.map(|(_, call)| ScriptedCall { line: 0, ..call.clone() }).collect() }
    }
}

/// As in its file: `T0 Enqueue elem=1`.
impl fmt::Display for ScriptedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{} {}", self.thread, self.call)
    }
}

impl FromStr for ScriptedCall {
    type Err = String;

    fn from_str(line: &str) -> Result<ScriptedCall, String> {
        let (thread, call) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let number = thread.strip_prefix('T').and_then(|number| number.parse().ok());
        let thread = number.ok_or_else(|| format!("expected a thread such as `T0`, found `{thread}`"))?;
        match call.trim() {
            "" => Err(format!("expected a call behind `T{thread}`")),
            call => Ok(ScriptedCall { thread, call: call.to_owned(), line: 0 }),
        }
    }
}

/// As in its file, with the first line. A call that was in a file stays in its line, so that a harness names the line that the
/// user wrote.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        let mut written = 1;
        for call in &self.calls {
            while written + 1 < call.line {
                writeln!(f)?;
                written += 1;
            }
            writeln!(f, "{call}")?;
            written += 1;
        }
        Ok(())
    }
}

impl FromStr for Script {
    type Err = BadScript;

    fn from_str(text: &str) -> Result<Script, BadScript> {
        let first = text.lines().next().unwrap_or_default();
        if first != HEADER {
            return Err(BadScript { line: 1, message: format!("expected `{HEADER}`, found `{first}`") });
        }
        let lines = text.lines().enumerate().skip(1);
        let calls = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#')).map(|(place, line)| {
            let number = place + 1;
            let call: ScriptedCall = line.parse().map_err(|message| BadScript { line: number, message })?;
            Ok(ScriptedCall { line: number, ..call })
        });
        Ok(Script { calls: calls.collect::<Result<_, _>>()? })
    }
}

/// The lines behind the first. A replay has to read the same bytes, because what it allocates depends on their number.
impl From<Script> for Vec<String> {
    fn from(script: Script) -> Vec<String> {
        script.to_string().lines().skip(1).map(str::to_owned).collect()
    }
}

impl TryFrom<Vec<String>> for Script {
    type Error = BadScript;

    fn try_from(lines: Vec<String>) -> Result<Script, BadScript> {
        format!("{HEADER}\n{}", lines.join("\n")).parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_as_it_is_written() {
        let text = "omnilink-script 1\nT0 Put key=1 text=\"a b\"\nT2 Get\nT0 Get\n";
        let script: Script = text.parse().unwrap();
        assert_eq!((script.to_string(), script.threads()), (text.to_owned(), vec![0, 2]));
        let json = serde_json::to_string(&script).unwrap();
        insta::assert_snapshot!(json, @r#"["T0 Put key=1 text=\"a b\"","T2 Get","T0 Get"]"#);
        assert_eq!(serde_json::from_str::<Script>(&json).unwrap().to_string(), text);
        let commented: Script = "omnilink-script 1\n# first\nT0 Get\n\nT1 Get\n".parse().unwrap();
        assert_eq!(commented.to_string(), "omnilink-script 1\n\nT0 Get\n\nT1 Get\n");
        let json = serde_json::to_string(&commented).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&json).unwrap().to_string(), commented.to_string());
        assert_eq!(commented.without(&[(0, 0)]).to_string(), "omnilink-script 1\nT1 Get\n");
        let without = |left_out: &[(usize, usize)]| Vec::from(script.without(left_out)).join("; ");
        assert_eq!(without(&[(0, 0)]), "T2 Get; T0 Get");
        assert_eq!(without(&[(0, 1), (2, 0), (2, 1)]), "T0 Put key=1 text=\"a b\"");
    }

    #[test]
    fn malformed_scripts_are_errors_with_the_line() {
        let check = |text: &str| text.parse::<Script>().unwrap_err().to_string();
        insta::assert_snapshot!(check("T0 Get"), @"line 1: expected `omnilink-script 1`, found `T0 Get`");
        insta::assert_snapshot!(check("omnilink-script 1\n\n# then\nGet"), @"line 4: expected a thread such as `T0`, found `Get`");
        insta::assert_snapshot!(check("omnilink-script 1\nT1  "), @"line 2: expected a call behind `T1`");
        assert!(serde_json::from_str::<Script>(r#"["Get"]"#).is_err());
    }
}
