//! Finds and parses every module that a specification needs.
//!
//! Each module is loaded once, extended modules before instanced ones, each followed by its own dependencies. This is
//! the order in which TLC sees strings, which affects `CHOOSE`, so it is kept. A text found by the loader takes
//! precedence over a built-in module, and both over the other modules in the file of the root.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use omnilink_tla_syntax::ast::{Expr, Kind, Module, Name, Unit};
use omnilink_tla_syntax::{Diagnostic, parse};

use super::mention::{children, unit_children};
use super::problem::Problems;
use super::table::Text;
use super::{Loader, with_stack};
use crate::modules;
use crate::source::{SourceId, Sources};
use crate::strings::Strings;

/// Modules for provers only, and the modules each makes visible: their theorems have no value, but modules that
/// extend them use the operators that come along.
const PROVER_MODULES: &[(&str, &[&str])] = &[
    ("TLAPS", &[]),
    ("BagsTheorems", &["Bags"]),
    ("FiniteSetTheorems", &["FiniteSets", "Functions", "Sequences", "Integers"]),
    ("FiniteSetsExtTheorems", &["FiniteSetsExt", "FiniteSets", "Integers"]),
    ("FoldsTheorems", &["Folds", "FiniteSets"]),
    ("FunctionTheorems", &["Functions", "Integers", "FiniteSets"]),
    ("NaturalsInduction", &["Integers"]),
    ("SequenceTheorems", &["Sequences", "Integers", "Functions"]),
    ("SequencesExtTheorems", &["Sequences", "SequencesExt", "Functions", "Integers"]),
    ("WellFoundedInduction", &["Integers", "Naturals"]),
];

/// The modules that a module without text makes visible besides its own operators; `None` if the module is unknown.
pub(super) fn built_in(name: &str) -> Option<&'static [&'static str]> {
    if modules::exists(name) {
        return Some(modules::extends(name));
    }
    PROVER_MODULES.iter().find(|(module, _)| *module == name).map(|(_, extends)| *extends)
}

/// Every text found.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By the name of the module; `None` where a text was not found or could not be parsed.
    pub(super) texts: BTreeMap<String, Option<Arc<Text>>>,
    pub(super) sources: Sources,
    pub(super) strings: Strings,
    pub(super) problems: Problems,
    /// In the order of loading, to be interned after the identifiers of all modules.
    literals: Vec<String>,
    /// The modules inside each module, including those of the modules it extends.
    inner: BTreeMap<String, BTreeSet<String>>,
    /// The file of the root, and where its first module ends.
    root: Option<(SourceId, String, usize)>,
}

impl Files {
    /// Loads the root and its dependencies; returns the root's name, or `None` if the text is not a module.
    pub(super) fn load(&mut self, name: &str, text: &str, loader: &mut dyn Loader) -> Option<String> {
        let source = self.sources.add(name, text);
        let tree = self.parse(source, text);
        let root = tree.map(|tree| {
            let module = tree.name.text.clone();
            self.root = Some((source, text.to_owned(), tree.span.end as usize));
            self.add(source, tree, loader);
            module
        });
        for literal in std::mem::take(&mut self.literals) {
            self.strings.intern(&literal);
        }
        root
    }

    /// Whether a module has a text, and is not built in.
    pub(super) fn is_text(&self, module: &str) -> bool {
        self.texts.get(module).is_some_and(Option::is_some)
    }

    /// Adds a module and all modules it extends.
    pub(super) fn add_extended(&self, name: &str, extended: &mut BTreeSet<String>) {
        if !extended.insert(name.to_owned()) {
            return;
        }
        for next in self.texts.get(name).into_iter().flatten().flat_map(|text| &text.tree.extends) {
            self.add_extended(&next.text, extended);
        }
    }

    fn parse(&mut self, source: SourceId, text: &str) -> Option<Module> {
        let parse = parse(text);
        for identifier in &parse.identifiers {
            self.strings.intern(identifier);
        }
        self.literals.extend(parse.literals);
        for error in parse.errors {
            self.problems.add(source, error, None);
        }
        parse.module
    }

    /// Another module in the file of the root.
    fn parse_beside_root(&mut self, name: &str) -> Option<(SourceId, Module)> {
        let (source, text, mut end) = self.root.clone()?;
        loop {
            // The module keeps its place in the file if all that precedes it is blank.
            let blank = text.bytes().take(end).map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            let rest = blank.chain(text.get(end..)?.chars()).collect::<String>();
            let next = parse(&rest).module?;
            if next.name.text == name {
                return Some((source, self.parse(source, &rest)?));
            }
            end = next.span.end as usize;
        }
    }

    fn add(&mut self, source: SourceId, tree: Module, loader: &mut dyn Loader) {
        let name = tree.name.text.clone();
        let text = Arc::new(Text { source, tree, outer: None });
        self.texts.insert(name.clone(), Some(text.clone()));
        let mut needs = Needs::default();
        needs.module(&text.tree);
        for extended in &needs.extends {
            self.need(source, extended, loader);
        }
        let mut inner: BTreeSet<String> = needs.inner.iter().map(|name| (*name).to_owned()).collect();
        for extended in &needs.extends {
            inner.extend(self.inner.get(&extended.text).into_iter().flatten().cloned());
        }
        let instances: Vec<&Name> = needs.instances.into_iter().filter(|name| !inner.contains(&name.text)).collect();
        self.inner.insert(name, inner);
        for instanced in instances {
            self.need(source, instanced, loader);
        }
    }

    fn need(&mut self, source: SourceId, name: &Name, loader: &mut dyn Loader) {
        if let Some(text) = self.texts.get(&name.text) {
            if text.is_none() && built_in(&name.text).is_none() {
                self.missing(source, name);
            }
            return;
        }
        let loaded = loader.load(&name.text);
        self.texts.insert(name.text.clone(), None);
        let Some((display, text)) = loaded else {
            if let Some(extends) = built_in(&name.text) {
                extends.iter().for_each(|extended| self.load_visible(extended, loader));
            } else if let Some((found, tree)) = self.parse_beside_root(&name.text) {
                with_stack(|| self.add(found, tree, loader));
            } else {
                self.missing(source, name);
            }
            return;
        };
        let found = self.sources.add(display, text.clone());
        let Some(tree) = self.parse(found, &text) else { return };
        if tree.name.text != name.text {
            let message = format!("this is module `{}`, not `{}`", tree.name.text, name.text);
            let help = "a module must be in the file of its name".to_owned();
            self.problems.add(found, Diagnostic::new(tree.name.span, message).help(help), None);
            return;
        }
        with_stack(|| self.add(found, tree, loader));
    }

    /// Loads a text that a built-in module makes visible: a copy beside the specification takes precedence there too.
    fn load_visible(&mut self, name: &str, loader: &mut dyn Loader) {
        let name = Name { text: name.to_owned(), span: omnilink_tla_syntax::Span::default() };
        self.need(SourceId::default(), &name, loader);
    }

    fn missing(&mut self, source: SourceId, name: &Name) {
        let known = modules::natives().iter().map(|native| native.module);
        let known = known.chain(PROVER_MODULES.iter().map(|(module, _)| *module));
        let diagnostic = Diagnostic::new(name.span, format!("there is no module `{}`", name.text))
            .label("neither beside the specification nor built in");
        self.problems.add(source, Diagnostic { help: omnilink_suggest::hint(&name.text, known), ..diagnostic }, None);
    }
}

/// The modules that one text depends on.
#[derive(Default)]
struct Needs<'a> {
    extends: Vec<&'a Name>,
    instances: Vec<&'a Name>,
    inner: BTreeSet<&'a str>,
}

impl<'a> Needs<'a> {
    fn module(&mut self, module: &'a Module) {
        self.extends.extend(&module.extends);
        module.units.iter().for_each(|unit| self.unit(unit));
    }

    fn unit(&mut self, unit: &'a Unit) {
        match unit {
            Unit::Instance(instance) => self.instances.push(&instance.module),
            Unit::Module(module) => {
                self.inner.insert(&module.name.text);
                self.module(module);
                return;
            }
            _ => {}
        }
        unit_children(unit, &mut |child| self.expr(child));
    }

    fn expr(&mut self, expr: &'a Expr) {
        if let Kind::Let { units, body } = &expr.kind {
            units.iter().for_each(|unit| self.unit(unit));
            self.expr(body);
            return;
        }
        children(expr, &mut |child| with_stack(|| self.expr(child)));
    }
}
