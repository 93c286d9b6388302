//! Symbol tables: the meanings of names, and where they are looked up.
//!
//! A name is looked up among the names bound around it, the [`Frame`], and then in the [`Table`] of its module. The
//! first slots of a frame belong to the instance that the text is resolved for (its *hidden* parameters), which the
//! text cannot name; they are the same in every frame of one instance, so that one operator can pass them to the
//! next. Hidden parameters of a nested instance begin with those of the outer one, so an operator always finds its
//! own at the front.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use omnilink_tla_syntax::Span;
use omnilink_tla_syntax::ast::{self, Name};

use crate::datum::Native;
use crate::ir::{DefId, Param, SlotId, VarId};
use crate::source::{Site, SourceId};

/// The text of a module, and the names around it if it is inside another one.
#[derive(Debug)]
pub(super) struct Text {
    /// The source it was read from.
    pub(super) source: SourceId,
    /// Its tree.
    pub(super) tree: ast::Module,
    /// The names visible from the module around it.
    pub(super) outer: Option<Table>,
}

/// The meaning of a module's name.
#[derive(Clone)]
pub(super) enum Symbol {
    /// A variable of the specification.
    Variable(VarId),
    /// A definition, or a declared constant.
    Def(DefId),
    /// A constant or variable that a hidden parameter replaces.
    Hidden {
        /// Its slot.
        slot: SlotId,
        /// The number of arguments it takes.
        arity: usize,
    },
    /// `I == INSTANCE M`
    Instance(Arc<Instance>),
    /// A built-in operator.
    Native(&'static Native),
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Variable(var) => f.debug_tuple("Variable").field(var).finish(),
            Symbol::Def(def) => f.debug_tuple("Def").field(def).finish(),
            Symbol::Hidden { slot, .. } => f.debug_tuple("Hidden").field(slot).finish(),
            Symbol::Instance(instance) => f.debug_tuple("Instance").field(&instance.params).finish(),
            Symbol::Native(native) => f.debug_tuple("Native").field(&native.name).finish(),
        }
    }
}

impl Symbol {
    /// Whether both are the same symbol, reached in two ways.
    pub(super) fn is_same(&self, other: &Symbol) -> bool {
        match (self, other) {
            (Symbol::Variable(a), Symbol::Variable(b)) => a == b,
            (Symbol::Def(a), Symbol::Def(b)) => a == b,
            (Symbol::Hidden { slot: a, .. }, Symbol::Hidden { slot: b, .. }) => a == b,
            (Symbol::Instance(a), Symbol::Instance(b)) => Arc::ptr_eq(a, b),
            (Symbol::Native(a), Symbol::Native(b)) => a.name == b.name && a.module == b.module,
            _ => false,
        }
    }
}

/// The meaning of `I!`.
#[derive(Debug)]
pub(super) struct Instance {
    /// The exports of the module, for this instance.
    pub(super) table: Table,
    /// The parameters of the name: `I(a)!`.
    pub(super) params: Vec<Param>,
    /// Names around a `LET` that the instance sees; they come before its parameters.
    pub(super) captured: Vec<String>,
}

/// A name in a table.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its meaning.
    pub(super) symbol: Symbol,
    /// The location of its declaration or definition; `None` if it is built in.
    pub(super) site: Option<Site>,
    /// Not exported, because it is preceded by `LOCAL`.
    pub(super) is_local: bool,
    /// A declared constant or variable, which an instance replaces and does not export.
    pub(super) is_declared: bool,
    /// Declared `RECURSIVE` and not defined yet.
    pub(super) is_pending: bool,
}

/// The names of a module.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// The names allowed in expressions.
    pub(super) entries: BTreeMap<String, Entry>,
    /// The modules allowed after `INSTANCE`, besides those in files.
    pub(super) modules: BTreeMap<String, Arc<Text>>,
    /// Names are missing because of a reported error, so an unknown name need not be an error.
    pub(super) is_partial: bool,
}

/// A name bound inside a definition.
#[derive(Debug, Clone)]
pub(super) struct Local {
    /// The name.
    pub(super) name: String,
    /// The location of the binding.
    pub(super) site: Site,
    /// Its meaning.
    pub(super) kind: LocalKind,
}

/// The meaning of a bound name.
#[derive(Debug, Clone)]
pub(super) enum LocalKind {
    /// A slot that holds a value.
    Value(SlotId),
    /// A parameter or a `LET` without parameters.
    Argument {
        /// Its slot.
        slot: SlotId,
        /// The number of arguments it takes.
        arity: usize,
    },
    /// A definition made from a `LET`.
    Operator {
        /// The definition.
        def: DefId,
        /// The names captured by its first parameters, after the hidden ones.
        captured: Vec<String>,
        /// Declared `RECURSIVE` and not defined yet.
        is_pending: bool,
    },
    /// An instance made by a `LET`.
    Instance(Arc<Instance>),
    /// Bound around an operator that does not mention it; it still cannot be bound again.
    Unmentioned,
}

/// The slots of a definition, and their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    /// The number of slots.
    pub(super) slots: u32,
    /// The names bound so far, the innermost last.
    pub(super) locals: Vec<Local>,
}

impl Frame {
    /// Allocates a slot.
    pub(super) fn slot(&mut self) -> SlotId {
        self.slots += 1;
        SlotId(self.slots - 1)
    }

    /// The innermost binding of a name.
    pub(super) fn find(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }
}

/// An instance that a text is resolved for; the first is the specification itself.
#[derive(Debug, Default)]
pub(super) struct Universe {
    /// The prefix of its definitions' names.
    pub(super) prefix: String,
    /// The first parameters of all its definitions.
    pub(super) hidden: Vec<Param>,
    /// The number of captured names among them.
    pub(super) captures: usize,
    /// The replacements of its constants and variables; `None` for the specification itself.
    pub(super) given: Option<BTreeMap<String, Symbol>>,
    /// The definitions that replace its variables.
    pub(super) variables: Box<[DefId]>,
    /// The constants and variables declared so far. Two modules that declare the same name share it.
    pub(super) declared: BTreeMap<String, Entry>,
    /// The modules that it extends, as far as they are resolved.
    pub(super) tables: BTreeMap<String, Arc<Table>>,
}

/// The number of a [`Universe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UniverseId(pub(super) usize);

/// The context in which an expression is resolved.
#[derive(Debug)]
pub(super) struct Scope {
    /// The instance.
    pub(super) universe: UniverseId,
    /// The module whose text it is.
    pub(super) module: String,
    /// The text.
    pub(super) source: SourceId,
    /// The bytes of the parsed input that are the text.
    pub(super) part: Span,
    /// The byte of the source at which this part begins.
    pub(super) offset: u32,
    /// The names of the module so far.
    pub(super) table: Table,
    /// The names bound around the expression.
    pub(super) frame: Frame,
    /// Definitions that come later in the text and their arities, for messages.
    pub(super) later: BTreeMap<String, (Site, usize)>,
    /// The definition that is being resolved, if its labels can be reached from elsewhere.
    pub(super) labelled: Option<String>,
    /// The labels found in it.
    pub(super) labels: Vec<(Name, DefId)>,
}

impl Scope {
    /// A location in the text.
    pub(super) fn site(&self, span: Span) -> Site {
        let shift = |byte: u32| byte.clamp(self.part.start, self.part.end) - self.part.start + self.offset;
        Site { source: self.source, span: Span { start: shift(span.start), end: shift(span.end) } }
    }
}
