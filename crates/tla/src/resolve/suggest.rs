//! What somebody may have meant.

/// The closest of the known names, if any is close enough to be a slip.
pub(super) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = match name.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    known
        .map(|candidate| (strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= most && *candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}
