//! Converts names of a specification to names of a programming language.
//!
//! A TLA+ name may be a keyword in the target language, begin with a digit, come through an instance (`Inner!Put`),
//! or differ from another one only in case. The converted name always compiles, and is unique in its scope.

/// The names in use in one scope.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'k> {
    keywords: &'k [&'k str],
    taken: Vec<String>,
}

impl<'k> Scope<'k> {
    /// A scope with reserved and taken names.
    pub(crate) fn new(keywords: &'k [&'k str], taken: &[&str]) -> Scope<'k> {
        Scope { keywords, taken: taken.iter().map(|name| (*name).to_owned()).collect() }
    }

    /// Reserves an unused name: this one if possible.
    pub(crate) fn reserve(&mut self, name: String) -> String {
        let is_free = |name: &str| !self.keywords.contains(&name) && !self.taken.iter().any(|taken| taken == name);
        let numbered = || (2..).map(|number| format!("{name}{number}"));
        let first = [name.clone(), format!("{name}_")].into_iter().find(|name| is_free(name));
        let given = first.or_else(|| numbered().find(|name| is_free(name))).expect("there are more numbers than names");
        self.taken.push(given.clone());
        given
    }
}

/// `DequeueEmpty` as `dequeue_empty`.
pub(crate) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// `dequeue_empty` as `DEQUEUE_EMPTY`.
pub(crate) fn shout(name: &str) -> String {
    snake(name).to_uppercase()
}

/// `dequeue_empty` as `DequeueEmpty`.
pub(crate) fn camel(name: &str) -> String {
    let capital = |word: &String| word[..1].to_uppercase() + &word[1..];
    words(name).iter().map(capital).collect()
}

/// The words of a name, in lower case; at least one, and the first begins with a letter.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    for (index, c) in name.char_indices() {
        let next = name[index + c.len_utf8()..].chars().next();
        // `HTTPGet` is two words: a capital starts a word after a small letter, and before a small letter.
        let is_end_of_capitals = before.is_ascii_uppercase() && next.is_some_and(|next| next.is_ascii_lowercase());
        let begins = !before.is_ascii_alphanumeric()
            || c.is_ascii_uppercase() && (!before.is_ascii_uppercase() || is_end_of_capitals);
        match words.last_mut() {
            _ if !c.is_ascii_alphanumeric() => {}
            Some(word) if !begins => word.push(c.to_ascii_lowercase()),
            _ => words.push(c.to_ascii_lowercase().to_string()),
        }
        before = c;
    }
    match words.first_mut() {
        Some(first) if first.starts_with(|c: char| c.is_ascii_digit()) => first.insert(0, 'n'),
        Some(_) => {}
        None => words.push("n".to_owned()),
    }
    words
}

/// The name of an outcome without the name of its call: `Empty` of `DequeueEmpty`.
pub(crate) fn outcome(call: &str, action: &str) -> String {
    match action.strip_prefix(call) {
        Some("") => "Done".to_owned(),
        Some(rest) if rest.contains(|c: char| c.is_ascii_alphabetic()) => camel(rest),
        _ => camel(action),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        let check = |name: &str| format!("{} {} {}", snake(name), shout(name), camel(name));
        insta::assert_snapshot!(check("DequeueEmpty"), @"dequeue_empty DEQUEUE_EMPTY DequeueEmpty");
        insta::assert_snapshot!(check("HTTPGet2"), @"http_get2 HTTP_GET2 HttpGet2");
        insta::assert_snapshot!(check("Inner!put_If"), @"inner_put_if INNER_PUT_IF InnerPutIf");
        insta::assert_snapshot!(check("2pc"), @"n2pc N2PC N2pc");
        insta::assert_snapshot!(check("_"), @"n N N");
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut scope = Scope::new(&["move"], &["session"]);
        let given = ["move", "put", "put", "put", "session"].map(|name| scope.reserve(name.to_owned()));
        assert_eq!(given, ["move_", "put", "put_", "put2", "session_"]);
    }
}
