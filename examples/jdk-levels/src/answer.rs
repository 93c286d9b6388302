//! Results in the shapes in which the recorder writes them.

use omnilink_history::Value;
use omnilink_models::Answer;

/// An element, or nil for Java's `null`.
pub fn element(element: Option<i64>) -> Answer {
    Answer::value(element.map_or(Value::Nil, Value::Int))
}

/// An element; an exception if there is none.
pub fn element_or_exception(element: Option<i64>) -> Answer {
    element.map_or_else(|| exception("NoSuchElementException"), Answer::value)
}

/// The name of an exception.
pub fn exception(name: &str) -> Answer {
    Answer::value(name)
}

/// A number of elements.
pub fn count(count: usize) -> Answer {
    Answer::value(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Elements in the order of the iterator.
pub fn elements<'a>(elements: impl IntoIterator<Item = &'a i64>) -> Answer {
    Answer::value(Value::tuple(elements.into_iter().map(|element| Value::Int(*element))))
}

/// An entry of a map, or nil for Java's `null`.
pub fn entry(entry: Option<(i64, i64)>) -> Answer {
    Answer::value(entry.map_or(Value::Nil, |(key, value)| pair(key, value)))
}

/// Entries in the order of the iterator.
pub fn entries<'a>(entries: impl IntoIterator<Item = (&'a i64, &'a i64)>) -> Answer {
    Answer::value(Value::tuple(entries.into_iter().map(|(key, value)| pair(*key, *value))))
}

fn pair(key: i64, value: i64) -> Value {
    Value::tuple([Value::Int(key), Value::Int(value)])
}

/// The text of a collection: `[1, 2]`.
pub fn text<'a>(elements: impl IntoIterator<Item = &'a i64>) -> Answer {
    let elements: Vec<String> = elements.into_iter().map(i64::to_string).collect();
    Answer::value(format!("[{}]", elements.join(", ")).as_str())
}
