//! What the tests of this crate share: a world in which nothing happens, and no modules but those that are built in.

use omnilink_tla::datum::World;
use omnilink_tla::resolve::Loader;

/// A world in which nothing happens.
pub(crate) struct Silence;

impl World for Silence {}

/// Finds no module besides those that are built in.
pub(crate) struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: &str) -> Option<(String, String)> {
        None
    }
}
