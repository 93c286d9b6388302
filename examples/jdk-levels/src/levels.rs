//! Consistency levels of methods.
//!
//! The levels, from weak to strong, are those of Emmi and Enea: `weak`, `self`, `monotonic`, `peer`, `causal` and
//! `complete`. A class all of whose methods are complete is linearizable.

/// The levels that the specifications of Violat state: class, method with its number of arguments, level.
const STATED: &str = include_str!("../violat.tsv");

/// The level at which to check a method; `None` if none is stated. This is the place to change for levels that are
/// found instead of stated.
pub fn level_of(class: &str, method: &str) -> Option<&'static str> {
    STATED.lines().skip(1).find_map(|line| {
        let mut cells = line.split('\t');
        let is_it = cells.next() == Some(class) && cells.next() == Some(method);
        cells.next().filter(|level| is_it && *level != "-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_the_table() {
        assert_eq!(level_of("ConcurrentHashMap", "get/1"), Some("complete"));
        assert_eq!(level_of("ConcurrentHashMap", "clear/0"), None);
        assert_eq!(level_of("ConcurrentHashMap", "explode/0"), None);
    }
}
