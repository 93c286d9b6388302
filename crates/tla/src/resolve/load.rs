//! Finds and parses every module that a specification needs.
//!
//! A module is loaded once, whoever needs it, the extended ones before the instanced ones, each followed by what it needs
//! itself. That is the order in which TLC meets strings, which decides what `CHOOSE` chooses, so it is kept. A text that
//! the loader finds wins over a module that comes with us.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tla_syntax::ast::{Expr, Kind, Module, Name, Unit};
use tla_syntax::{Diagnostic, parse};

use super::mention::{children, unit_children};
use super::problem::Problems;
use super::table::Text;
use super::{Loader, deep};
use crate::modules;
use crate::source::{SourceId, Sources};
use crate::strings::Strings;

/// Modules that only provers read, and what each makes visible: their theorems have no value, but those who extend them
/// count on the operators that come along.
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

/// What a module that has no text makes visible besides its own operators; none if there is no such module.
pub(super) fn built_in(name: &str) -> Option<&'static [&'static str]> {
    if modules::exists(name) {
        return Some(modules::extends(name));
    }
    PROVER_MODULES.iter().find(|(module, _)| *module == name).map(|(_, extends)| *extends)
}

/// Every text that was found.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By the name of the module; none where a text could not be parsed, or was not found.
    pub(super) texts: BTreeMap<String, Option<Arc<Text>>>,
    pub(super) sources: Sources,
    pub(super) strings: Strings,
    pub(super) problems: Problems,
    /// In the order of loading, to be interned after the identifiers of all modules.
    literals: Vec<String>,
    /// The modules inside each module, those of the modules it extends included.
    inner: BTreeMap<String, BTreeSet<String>>,
}

impl Files {
    /// Loads the root and everything that it needs; the root's name, or none if it is not a module at all.
    pub(super) fn load(&mut self, name: &str, text: &str, loader: &mut dyn Loader) -> Option<String> {
        let (source, tree) = self.parse(name, text);
        let root = tree.map(|tree| {
            let module = tree.name.text.clone();
            self.add(source, tree, loader);
            module
        });
        for literal in std::mem::take(&mut self.literals) {
            self.strings.intern(&literal);
        }
        root
    }

    /// Adds a module and all that it extends.
    pub(super) fn add_extended(&self, name: &str, extended: &mut BTreeSet<String>) {
        if !extended.insert(name.to_owned()) {
            return;
        }
        for next in self.texts.get(name).into_iter().flatten().flat_map(|text| &text.tree.extends) {
            self.add_extended(&next.text, extended);
        }
    }

    fn parse(&mut self, name: &str, text: &str) -> (SourceId, Option<Module>) {
        let source = self.sources.add(name, text);
        let parse = parse(text);
        for identifier in &parse.identifiers {
            self.strings.intern(identifier);
        }
        self.literals.extend(parse.literals);
        for error in parse.errors {
            self.problems.add(source, error, None);
        }
        (source, parse.module)
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
        let Some((display, text)) = loader.load(&name.text) else {
            self.texts.insert(name.text.clone(), None);
            match built_in(&name.text) {
                Some(extends) => extends.iter().for_each(|extended| self.along(extended, loader)),
                None => self.missing(source, name),
            }
            return;
        };
        self.texts.insert(name.text.clone(), None);
        let (found, tree) = self.parse(&display, &text);
        let Some(tree) = tree else { return };
        if tree.name.text != name.text {
            let message = format!("this is module `{}`, not `{}`", tree.name.text, name.text);
            let help = "a module is looked for in the file of its name".to_owned();
            self.problems.add(found, Diagnostic::new(tree.name.span, message).help(help), None);
            return;
        }
        deep(|| self.add(found, tree, loader));
    }

    /// Loads a text that a module of ours makes visible: a copy beside the specification wins there too.
    fn along(&mut self, name: &str, loader: &mut dyn Loader) {
        let name = Name { text: name.to_owned(), span: tla_syntax::Span::default() };
        self.need(SourceId::default(), &name, loader);
    }

    fn missing(&mut self, source: SourceId, name: &Name) {
        let known = modules::natives().iter().map(|native| native.module);
        let known = known.chain(PROVER_MODULES.iter().map(|(module, _)| *module));
        let diagnostic = Diagnostic::new(name.span, format!("there is no module `{}`", name.text))
            .label("neither beside the specification nor among ours");
        self.problems.add(source, Diagnostic { help: suggest::hint(&name.text, known), ..diagnostic }, None);
    }
}

/// The modules that one text asks for.
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
        children(expr, &mut |child| deep(|| self.expr(child)));
    }
}
