//! The names of a companion's operators for operations.

/// Steps after the last operation of a process.
pub(crate) const END: &str = "OnEnd";

/// Operators that are not about operations with their names.
const OTHERS: [&str; 3] = [END, "OnUnfinished", "OnFailed"];

/// The operators for an operation, the first one first: with its name as it is, and with a capital for each of its words,
/// such as `OnGiveUp` for `give-up`.
pub(crate) fn operators(operation: &str) -> Vec<String> {
    let capital = |word: &str| -> String {
        let mut chars = word.chars();
        let first = chars.next();
        first.into_iter().flat_map(char::to_uppercase).chain(chars).collect()
    };
    let words = operation.split(|c: char| !c.is_alphanumeric());
    let in_words = format!("On{}", words.map(capital).collect::<String>());
    let mut names = vec![format!("On{operation}")];
    if !OTHERS.contains(&&*in_words) && in_words != names[0] {
        names.push(in_words);
    }
    names
}

/// How a companion can define an operation; `None` for the outcomes of an unfinished one, which are several actions.
pub(crate) fn advice(operation: &str) -> Option<String> {
    let operator = operators(operation).pop().filter(|_| !operation.contains('|'))?;
    Some(format!("or define `{operator}(op)` in the companion"))
}
