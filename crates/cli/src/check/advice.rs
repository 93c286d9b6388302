//! Follow-up commands for an inconclusive history: the same command with a larger limit, or another way to decide.

use omnilink_report::{Command, Limit, Verdict};

use crate::args::CheckArgs;

/// The factor by which limits are raised.
const MORE_TIME: u32 = 10;
const MORE_MEMORY: u64 = 4;
const MORE_WIDTH: usize = 16;

/// The kind of specification, as far as it matters for advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Operations against a built-in specification.
    Builtin,
    /// Operations against a TLA+ module.
    Module,
    /// A log against a TLA+ module.
    Log,
}

/// The follow-up commands after an inconclusive verdict, given the limit that was reached.
pub(super) fn advice(args: &CheckArgs, verdict: &Verdict, kind: Kind) -> Vec<Command> {
    let command = |what: &str, line: String| Command { what: what.into(), line };
    let mut advice = Vec::new();
    let Verdict::Inconclusive { limit, .. } = verdict else { return advice };
    match limit {
        Limit::Interrupt | Limit::Incomplete => return advice,
        Limit::Operations => {
            advice.push(command("other levels", with(&words(), "--level", "LEVEL")));
            return advice;
        }
        Limit::Time => {
            let timeout = args.about.timeout.map(|timeout| timeout * MORE_TIME).unwrap_or_default();
            let timeout = humantime::format_duration(timeout).to_string().replace(' ', "");
            advice.push(command("more time", with(&words(), "--timeout", &timeout)));
        }
        Limit::Memory => {
            let memory = bytesize::ByteSize(args.about.max_memory.as_u64().saturating_mul(MORE_MEMORY));
            let memory = memory.display().si_short().to_string().replace(' ', "");
            advice.push(command("more memory", with(&words(), "--max-memory", &memory)));
        }
        Limit::Width => {
            let width = args.max_width.unwrap_or(omnilink_judge::MAX_WIDTH).saturating_mul(MORE_WIDTH).to_string();
            advice.push(command("a larger width", with(&words(), "--max-width", &width)));
        }
    }
    if args.about.order_by.is_none() && kind != Kind::Log {
        advice.push(command("an order hint", with(&words(), "--order-by", "FIELD")));
    }
    if kind == Kind::Module {
        advice.push(command("without a search", "omnilink spec list".into()));
    }
    advice
}

/// The words of this command line.
fn words() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The command line with another value of an option.
fn with(words: &[String], option: &str, value: &str) -> String {
    let mut line = vec!["omnilink".to_owned()];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            _ if word == option => drop(words.next()),
            Some((name, _)) if name == option => {}
            _ => line.push(omnilink_judge::quoted(word)),
        }
    }
    line.extend([option.to_owned(), value.to_owned()]);
    line.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_replaced() {
        let check = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            with(&words, "--timeout", "10s")
        };
        insta::assert_snapshot!(check("check --spec queue h"), @"omnilink check --spec queue h --timeout 10s");
        insta::assert_snapshot!(check("check --timeout 1s h"), @"omnilink check h --timeout 10s");
        insta::assert_snapshot!(check("check h --timeout=1s a'b"), @r#"omnilink check h "a'b" --timeout 10s"#);
    }
}
