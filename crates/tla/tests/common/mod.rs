//! Shared by the tests of this crate: links a module given as a string, and a world without effects.

use omnilink_tla::config;
use omnilink_tla::datum::World;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{LinkOptions, Program, link};
use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::strings::Strings;

/// Links a module that needs no other, with `Init` and `Next` if it has them.
pub(crate) fn program(text: &str, config: &str) -> Result<Program, String> {
    let mut strings = Strings::default();
    let config = config::parse(config, &mut strings).map_err(|errors| format!("{errors:?}"))?;
    let module = resolve("M.tla", text, &mut Alone, strings)
        .map_err(|errors| errors.errors.iter().map(|e| e.diagnostic.message.clone()).collect::<Vec<_>>().join("; "))?;
    let options = LinkOptions { without_behavior: true, ..LinkOptions::default() };
    link(module, &config, options).map_err(|errors| format!("{:?}", errors.errors))
}

pub(crate) fn machine(program: &Program) -> Machine<'_> {
    Machine::new(program, Box::new(NullWorld))
}

/// Loads no modules besides the built-in ones.
struct Alone;

impl Loader for Alone {
    fn load(&mut self, _: &str) -> Option<(String, String)> {
        None
    }
}

/// A world without files or output.
pub(crate) struct NullWorld;

impl World for NullWorld {}
