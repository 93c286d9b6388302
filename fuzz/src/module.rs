//! Modules that are run.

use std::cell::Cell;

use omnilink_tla::config;
use omnilink_tla::datum::World;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{LinkOptions, link};
use omnilink_tla::reach::Limit;
use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::source::{Site, Sources};
use omnilink_tla::strings::Strings;

use crate::texts::is_inside;

/// Any module with the usual configuration: it is refused with errors that stand inside it, or it runs for a while.
pub(crate) fn tla_module(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    on_a_small_stack(|| check(text));
}

/// Callers may have a small stack.
pub(crate) fn on_a_small_stack(check: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, check);
        thread.expect("a thread").join().expect("no panic");
    });
}

fn check(text: &str) {
    let is_inside = |sources: &Sources, site: Site| is_inside(&sources.get(site.source).text, site.span);
    let mut strings = Strings::default();
    let config = config::parse("INIT Init NEXT Next CONSTANT N = 3", &mut strings).expect("a configuration");
    let module = match resolve("M.tla", text, &mut Alone, strings) {
        Ok(module) => module,
        Err(errors) => {
            for problem in &errors.errors {
                let site = |span| Site { source: problem.source, span };
                let sites = problem.diagnostic.related.iter().map(|(span, _)| site(*span));
                let sites = sites.chain(problem.related.iter().map(|(site, _)| *site));
                for site in sites.chain([site(problem.diagnostic.span)]) {
                    assert!(is_inside(&errors.sources, site), "{problem:?}");
                }
            }
            return;
        }
    };
    let Ok(program) = link(module, &config, LinkOptions { skip_properties: true, ..LinkOptions::default() }) else {
        return;
    };
    let mut machine = Machine::new(&program, Box::new(Hurry::default()));
    let mut errors = Vec::new();
    for (_, assumption) in &program.module.assumptions {
        errors.extend(machine.value(*assumption, None).err());
    }
    let mut states = Vec::new();
    errors.extend(machine.initial_states(&mut states).err());
    for state in states.iter().take(4) {
        let mut next = Vec::new();
        errors.extend(machine.successors(state, &mut next).err());
        if let (Some(action), true) = (program.next, next.is_empty()) {
            machine.explain(action, state).text(&program.module);
        }
    }
    for site in errors.iter().filter_map(|error| error.site) {
        assert!(is_inside(&program.module.sources, site), "{errors:?}");
    }
}

/// Finds no module besides those that come with us.
pub(crate) struct Alone;

impl Loader for Alone {
    fn load(&mut self, _: &str) -> Option<(String, String)> {
        None
    }
}

/// A world that ends soon.
#[derive(Default)]
pub(crate) struct Hurry(Cell<u32>);

/// How often it is asked whether to stop before it says so.
const PATIENCE: u32 = 4096;

impl World for Hurry {
    fn random(&mut self, bound: u64) -> u64 {
        bound / 2
    }

    fn limit(&self) -> Option<Limit> {
        self.0.set(self.0.get() + 1);
        (self.0.get() > PATIENCE).then_some(Limit::Time)
    }
}
