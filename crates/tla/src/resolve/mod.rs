//! Binds every name of a specification: from trees to [`ir::Module`].
//!
//! First all needed modules are loaded. Then the units of each module are resolved in the order of the text, because
//! a name must be defined before it is used. An extended module is resolved once; an instanced one is resolved again
//! for the instance, unless it declares neither constants nor variables, so that its instances cannot differ. `table`
//! holds the symbol tables; `module` resolves units, `instance` `INSTANCE`, `local` `LET` and `LAMBDA`, `apply` names
//! and operators, `expr` everything else. Last, `level` computes the level of each definition.
//!
//! All errors are reported at once. A wrong expression becomes a placeholder that causes no further errors.

mod apply;
mod expr;
mod instance;
mod level;
mod load;
mod local;
mod mention;
mod module;
mod part;
mod problem;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use omnilink_tla_syntax::ast::{Module as Tree, Unit};
use omnilink_tla_syntax::{Diagnostic, Span};

pub use self::problem::{Errors, Problem};

use self::load::Files;
use self::problem::Problems;
use self::table::{Entry, Frame, Scope, Symbol, Table, Universe, UniverseId};
use crate::ir::{self, Body, DefId, Definition, ExprId, ExprLevel, Exprs, Node, Param, Variable};
use crate::source::{Site, SourceId};
use crate::strings::Strings;

/// The maximum number of definitions; no handwritten specification has instances that multiply beyond it.
const MOST_DEFINITIONS: usize = 200_000;

/// Finds the text of a module.
pub trait Loader {
    /// The name of the text in messages, and the text. A module found here takes precedence over a built-in one.
    fn load(&mut self, module: &str) -> Option<(String, String)>;
}

/// The parts of a module that are needed to resolve another expression in it.
#[derive(Debug, Clone, Default)]
pub struct Context {
    table: Table,
    hidden: Vec<usize>,
    natives: BTreeMap<(&'static str, &'static str), DefId>,
    effects: Vec<level::Effect>,
    /// Conjunctions and disjunctions that are written as bullet lists.
    lists: BTreeSet<ExprId>,
}

/// Resolves a specification: its root module and every module that it needs. The strings are those of the
/// configuration; they come first in the order of strings.
pub fn resolve(name: &str, text: &str, loader: &mut dyn Loader, strings: Strings) -> Result<ir::Module, Errors> {
    let mut files = Files::default();
    files.strings = strings;
    let root = files.load(name, text, loader);
    let mut resolver = Resolver {
        strings: std::mem::take(&mut files.strings),
        problems: std::mem::take(&mut files.problems),
        files,
        universes: vec![Universe::default()],
        ..Resolver::default()
    };
    let Some(root) = root else {
        let Resolver { mut problems, files, .. } = resolver;
        if problems.is_empty() {
            let diagnostic = Diagnostic::new(Span::default(), "this text has no module")
                .help("a module begins with `---- MODULE Name ----` and ends with `====`");
            problems.add(SourceId::default(), diagnostic, None);
        }
        return Err(problems.finish(files.sources));
    };
    if let Some(Some(text)) = resolver.files.texts.get(&root).cloned() {
        let scope = resolver.module(UniverseId(0), &text);
        resolver.context.table = scope.table;
    }
    resolver.levels();
    let Resolver { problems, files, strings, exprs, definitions, variables, assumptions, context, warnings, .. } =
        resolver;
    if !problems.is_empty() {
        return Err(problems.finish(files.sources));
    }
    let names = names(&context.table);
    let mut extended = BTreeSet::new();
    files.add_extended(&root, &mut extended);
    let assumptions = assumptions.into_iter().filter(|(module, ..)| extended.contains(module));
    let assumptions = assumptions.map(|(_, name, _, expr)| (name, expr)).collect();
    let sources = files.sources;
    Ok(ir::Module {
        name: root,
        sources,
        strings,
        variables,
        definitions,
        exprs,
        names,
        assumptions,
        warnings,
        context,
    })
}

/// The text before an expression that is parsed as a module.
fn text_before(params: &[&str]) -> String {
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    format!("---- MODULE Expression ----\nexpression{params} ==\n")
}

fn parse_expression(text: &str, params: &[&str]) -> omnilink_tla_syntax::Parse {
    omnilink_tla_syntax::parse(&format!("{}{text}\n====", text_before(params)))
}

/// Adds the strings of expressions that will be resolved one by one, in the order they would have if the expressions
/// were at the end of the root module: first the identifiers of all, then the literals of all.
pub fn intern_expressions(module: &mut ir::Module, texts: &[&str]) {
    let parses: Vec<_> = texts.iter().map(|text| parse_expression(text, &[])).collect();
    let identifiers = parses.iter().flat_map(|parse| &parse.identifiers);
    let literals = parses.iter().flat_map(|parse| &parse.literals);
    for string in identifiers.chain(literals) {
        module.strings.intern(string);
    }
}

/// Resolves one more expression, as if it were at the end of the root module, and adds a definition without
/// parameters for it. The text becomes a separate source.
pub fn resolve_expression(module: &mut ir::Module, text: &str) -> Result<DefId, Errors> {
    let known = module.sources.clone();
    let source = module.sources.add("expression", text);
    let resolved = resolve_operator(module, &[], text, Excerpt { source, offset: 0 });
    if resolved.is_err() {
        module.sources = known;
    }
    resolved
}

/// The place of an expression in one of the texts of a module.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt {
    /// The text.
    pub source: SourceId,
    /// The byte at which the expression begins.
    pub offset: u32,
}

/// Resolves one more expression with parameters, as if it were the body of an operator at the end of the root module,
/// and adds a definition for it.
pub fn resolve_operator(
    module: &mut ir::Module,
    params: &[&str],
    text: &str,
    excerpt: Excerpt,
) -> Result<DefId, Errors> {
    let parse = parse_expression(text, params);
    let (sources, source) = (module.sources.clone(), excerpt.source);
    let mut problems = Problems::default();
    let start = u32::try_from(text_before(params).len()).expect("a short text");
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX).saturating_add(start);
    let part = Span { start, end };
    let inside = |span: Span| {
        let shift = |byte: u32| byte.clamp(start, end) - start + excerpt.offset;
        Span { start: shift(span.start), end: shift(span.end) }
    };
    if text.trim().is_empty() {
        problems.add(source, Diagnostic::new(inside(part), "expected an expression"), None);
        return Err(problems.finish(sources));
    }
    for mut error in parse.errors {
        if error.span.end <= start {
            // The text was parsed as a separate unit, and our definition before it lacks an expression.
            error = Diagnostic::new(part, "this is not an expression").help("definitions belong in a module");
        }
        error.span = inside(error.span);
        error.related.iter_mut().for_each(|(span, _)| *span = inside(*span));
        problems.add(source, error, None);
    }
    let body = parse.module.and_then(|Tree { mut units, .. }| match (units.pop(), units.is_empty()) {
        (Some(Unit::Definition(definition)), true) => Some((definition.params, definition.body)),
        _ => None,
    });
    if body.is_none() && problems.is_empty() {
        problems.add(source, Diagnostic::new(inside(part), "this is not a single expression"), None);
    }
    let Some((params, body)) = body.filter(|_| problems.is_empty()) else { return Err(problems.finish(sources)) };
    // Errors from here on leave behind only strings and expressions that nothing refers to.
    let known = module.definitions.len();
    let mut resolver = Resolver {
        strings: std::mem::take(&mut module.strings),
        problems,
        exprs: std::mem::take(&mut module.exprs),
        definitions: std::mem::take(&mut module.definitions),
        variables: std::mem::take(&mut module.variables),
        universes: vec![Universe::default()],
        context: std::mem::take(&mut module.context),
        ..Resolver::default()
    };
    for string in parse.identifiers.iter().chain(&parse.literals) {
        resolver.strings.intern(string);
    }
    let mut scope = Scope {
        universe: UniverseId(0),
        module: module.name.clone(),
        source,
        part,
        offset: excerpt.offset,
        table: std::mem::take(&mut resolver.context.table),
        frame: Frame::default(),
        later: BTreeMap::new(),
        labelled: None,
        labels: Vec::new(),
    };
    let site = scope.site(body.span);
    let def = resolver.reserve(&scope, "expression", params.iter().map(local::param).collect(), 0, site);
    resolver.bind_params(&mut scope, &params);
    let expr = resolver.expr(&mut scope, &body);
    scope.frame.locals.clear();
    resolver.fill(def, expr, &scope.frame);
    resolver.levels();
    let Resolver { problems, strings, exprs, mut definitions, variables, mut context, .. } = resolver;
    context.table = scope.table;
    if !problems.is_empty() {
        definitions.truncate(known);
        context.hidden.truncate(known);
        context.effects.truncate(known);
        context.natives.retain(|_, def| (def.0 as usize) < known);
    }
    module.strings = strings;
    module.exprs = exprs;
    module.definitions = definitions;
    module.variables = variables;
    module.context = context;
    if !problems.is_empty() {
        return Err(problems.finish(sources));
    }
    Ok(def)
}

/// The names that the root module and its configuration can call, including those of instances without parameters.
fn names(table: &Table) -> BTreeMap<String, DefId> {
    fn add(prefix: &str, table: &Table, names: &mut BTreeMap<String, DefId>) {
        for (name, entry) in &table.entries {
            match &entry.symbol {
                Symbol::Def(def) => {
                    names.insert(format!("{prefix}{name}"), *def);
                }
                Symbol::Instance(instance) if instance.params.is_empty() => {
                    add(&format!("{prefix}{name}!"), &instance.table, names);
                }
                _ => {}
            }
        }
    }
    let mut names = BTreeMap::new();
    add("", table, &mut names);
    names
}

/// Makes room on the stack for one more level of an expression; the parser allows many.
fn with_stack<T>(inside: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, inside)
}

/// The state of resolution.
#[derive(Default)]
struct Resolver {
    strings: Strings,
    problems: Problems,
    files: Files,
    exprs: Exprs,
    definitions: Vec<Definition>,
    variables: Vec<Variable>,
    /// The module, the name if it has one, its definition, and a call of it.
    assumptions: Vec<(String, Option<String>, DefId, ExprId)>,
    universes: Vec<Universe>,
    context: Context,
    /// The modules being resolved, to find circular dependencies.
    stack: Vec<String>,
    /// Definitions in the order in which they were finished, so that each comes after those it needs.
    finished: Vec<DefId>,
    /// Definitions that were declared `RECURSIVE`.
    recursive: Vec<DefId>,
    /// The replacements of an instance's constants and variables, and their maximum levels.
    substitutions: Vec<level::Substitution>,
    /// Possible mistakes that are accepted.
    warnings: Vec<(Site, String)>,
    /// Whether the limit of definitions was reached and reported.
    is_exhausted: bool,
}

/// The placeholder for an expression with a reported error.
const BROKEN: &str = "an error";

impl Resolver {
    fn error(&mut self, site: Site, message: impl Into<String>) {
        self.report(site, Diagnostic::new(site.span, message), None);
    }

    /// Adds a warning, unless it is already there.
    fn warn(&mut self, site: Site, message: String) {
        if !self.warnings.iter().any(|(_, known)| *known == message) {
            self.warnings.push((site, message));
        }
    }

    fn report(&mut self, site: Site, diagnostic: Diagnostic, first: Option<(Site, &str)>) {
        self.problems.add(site.source, diagnostic, first);
    }

    /// A placeholder for an expression with a reported error.
    fn broken(&mut self, site: Site) -> ExprId {
        self.exprs.push(Node::Unsupported { what: BROKEN, parts: Box::default() }, site)
    }

    /// Whether the body of a definition has a reported error.
    fn is_broken(&self, def: DefId) -> bool {
        match self.definition(def).body {
            Body::Expr(body) => matches!(self.exprs.node(body), Node::Unsupported { what: BROKEN, .. }),
            _ => false,
        }
    }

    /// Adds a definition whose body is not known yet. Call sites fill in the first parameters.
    fn reserve(&mut self, scope: &Scope, name: &str, own: Vec<Param>, captures: usize, site: Site) -> DefId {
        let universe = &self.universes[scope.universe.0];
        let hidden = universe.hidden.len() + captures;
        let captures = if captures > 0 { hidden } else { universe.captures };
        let mut params = universe.hidden.clone();
        params.extend(own);
        let name = format!("{}{name}", universe.prefix);
        let module = scope.module.clone();
        let body = Body::Declared;
        let slots = params.len();
        let level = ExprLevel::Constant;
        let is_recursive = false;
        self.add(Definition { name, module, params, captures, body, slots, level, is_recursive, site }, hidden)
    }

    fn add(&mut self, definition: Definition, hidden: usize) -> DefId {
        if self.definitions.len() == MOST_DEFINITIONS && !self.is_exhausted {
            self.is_exhausted = true;
            self.error(definition.site, format!("the instances have more than {MOST_DEFINITIONS} definitions"));
        }
        let def = DefId(u32::try_from(self.definitions.len()).expect("fewer than four billion definitions"));
        self.definitions.push(definition);
        self.context.hidden.push(hidden);
        def
    }

    /// Sets the body of a definition.
    fn fill(&mut self, def: DefId, body: ExprId, frame: &Frame) {
        let definition = &mut self.definitions[def.0 as usize];
        definition.body = Body::Expr(body);
        definition.slots = frame.slots as usize;
        self.finished.push(def);
    }

    fn definition(&self, def: DefId) -> &Definition {
        &self.definitions[def.0 as usize]
    }

    /// The number of a definition's parameters that call sites fill in.
    fn hidden(&self, def: DefId) -> usize {
        self.context.hidden[def.0 as usize]
    }

    /// The definition of a built-in operator.
    fn native(&mut self, native: &'static crate::datum::Native) -> DefId {
        if let Some(def) = self.context.natives.get(&(native.module, native.name)) {
            return *def;
        }
        let params = native.params.iter().enumerate();
        let params = params.map(|(index, arity)| Param { name: format!("p{}", index + 1), arity: *arity });
        let definition = Definition {
            name: native.name.to_owned(),
            module: native.module.to_owned(),
            params: params.collect(),
            captures: 0,
            body: Body::Native(native),
            slots: native.params.len(),
            level: native.level,
            is_recursive: false,
            site: Site::default(),
        };
        let def = self.add(definition, 0);
        self.context.natives.insert((native.module, native.name), def);
        def
    }

    /// Binds a name of a module, unless it is taken.
    fn define(&mut self, scope: &mut Scope, name: &str, entry: Entry) {
        if let Some(site) = entry.site
            && self.is_taken(scope, name, site)
        {
            return;
        }
        scope.table.entries.insert(name.to_owned(), entry);
    }

    /// Whether a name is already taken here, which is reported.
    fn is_taken(&mut self, scope: &Scope, name: &str, site: Site) -> bool {
        let first = match (scope.frame.find(name), scope.table.entries.get(name)) {
            (Some(local), _) => Some(local.site),
            (None, Some(entry)) => match (&entry.symbol, entry.site) {
                (Symbol::Native(native), _) => {
                    let message = format!("`{name}` is already defined");
                    let help = format!("it comes with module `{}`", native.module);
                    self.report(site, Diagnostic::new(site.span, message).help(help), None);
                    return true;
                }
                (_, site) => site,
            },
            (None, None) => return false,
        };
        let first = first.map(|first| (first, "first here"));
        self.report(site, Diagnostic::new(site.span, format!("`{name}` is already defined")), first);
        true
    }
}
