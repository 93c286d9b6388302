//! Prefix, infix and postfix operator symbols.
//!
//! TLA+ fixes the set of symbols, their position and how tightly they bind. A module can define the meaning of a
//! symbol, but not how it parses. A symbol binds with a *range* of precedences. Between two neighbours, the one
//! whose whole range is above the other's takes the operand; if the ranges overlap, the text needs parentheses,
//! unless both are the same symbol and it associates to the left. No symbol associates to the right. Ranges,
//! associativity and synonyms are those of SANY, so both parsers group a text the same way.

/// The position of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixity {
    /// `~p`
    Prefix,
    /// `a + b`
    Infix,
    /// `x'`
    Postfix,
}

/// One symbol.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// The canonical spelling, used in the tree.
    pub name: &'static str,
    /// Other spellings, in ASCII and in Unicode.
    pub synonyms: &'static [&'static str],
    /// Its position.
    pub fixity: Fixity,
    /// The lowest precedence with which it binds.
    pub low: u8,
    /// The highest precedence with which it binds.
    pub high: u8,
    /// `a + b + c` needs no parentheses.
    pub is_left_associative: bool,
}

/// The symbol with this spelling, canonical or not, in this position. Unary minus is `-.`, as in its definition.
pub fn operator(spelling: &str, fixity: Fixity) -> Option<&'static Operator> {
    OPERATORS.iter().find(|op| op.fixity == fixity && (op.name == spelling || op.synonyms.contains(&spelling)))
}

/// The canonical spelling, used in the tree. A name that is not a symbol is returned unchanged.
pub fn canonical(spelling: &str) -> &str {
    let found = OPERATORS.iter().find(|op| op.name == spelling || op.synonyms.contains(&spelling));
    found.map_or(spelling, |op| op.name)
}

/// The likely intent behind a symbol of another language that TLA+ parses but no standard module defines.
pub fn meant(name: &str) -> Option<&'static str> {
    match name {
        "&&" | "&" => Some("`/\\`"),
        "||" | "|" => Some("`\\/`"),
        ":=" => Some("`=`, or `==` in a definition"),
        "**" => Some("`^`"),
        "/" | "//" => Some("`\\div`"),
        "%%" => Some("`%`"),
        "++" => Some("`\\o`"),
        _ => None,
    }
}

impl Operator {
    /// Whether an operand between the two belongs to this one, whichever comes first.
    pub fn binds_stronger_than(&self, other: &Operator) -> bool {
        self.low > other.high
    }
}

const fn prefix(name: &'static str, synonyms: &'static [&'static str], low: u8, high: u8) -> Operator {
    Operator { name, synonyms, fixity: Fixity::Prefix, low, high, is_left_associative: false }
}

const fn postfix(name: &'static str, synonyms: &'static [&'static str]) -> Operator {
    Operator { name, synonyms, fixity: Fixity::Postfix, low: 15, high: 15, is_left_associative: false }
}

const fn left(name: &'static str, synonyms: &'static [&'static str], low: u8, high: u8) -> Operator {
    Operator { name, synonyms, fixity: Fixity::Infix, low, high, is_left_associative: true }
}

const fn infix(name: &'static str, synonyms: &'static [&'static str], low: u8, high: u8) -> Operator {
    Operator { name, synonyms, fixity: Fixity::Infix, low, high, is_left_associative: false }
}

/// `f[x]`, which takes its operand like a symbol.
pub(crate) static INDEX: Operator =
    Operator { name: "[", synonyms: &[], fixity: Fixity::Postfix, low: 16, high: 16, is_left_associative: true };

/// `r.a`, likewise.
pub(crate) static FIELD: Operator =
    Operator { name: ".", synonyms: &[], fixity: Fixity::Postfix, low: 17, high: 17, is_left_associative: true };

/// Every symbol, highest ranges last within its group.
pub static OPERATORS: &[Operator] = &[
    prefix("~", &["\\lnot", "\\neg", "¬"], 4, 4),
    prefix("[]", &["□"], 4, 15),
    prefix("<>", &["◇", "⋄"], 4, 15),
    prefix("ENABLED", &[], 4, 15),
    prefix("UNCHANGED", &[], 4, 15),
    prefix("SUBSET", &[], 10, 13),
    prefix("UNION", &[], 10, 13),
    prefix("DOMAIN", &[], 10, 13),
    prefix("-.", &[], 12, 12),
    infix("=>", &["⇒", "⟹"], 1, 1),
    infix("<=>", &["\\equiv", "≡", "⇔", "⟺"], 2, 2),
    infix("~>", &["↝", "⇝"], 2, 2),
    infix("-+->", &["⇸", "⥅"], 2, 2),
    left("/\\", &["\\land", "∧"], 3, 3),
    left("\\/", &["\\lor", "∨"], 3, 3),
    infix("=", &[], 5, 5),
    infix("/=", &["#", "≠"], 5, 5),
    infix("<", &[], 5, 5),
    infix(">", &[], 5, 5),
    infix("<=", &["=<", "\\leq", "≤"], 5, 5),
    infix(">=", &["\\geq", "≥"], 5, 5),
    infix("\\in", &["∈"], 5, 5),
    infix("\\notin", &["∉"], 5, 5),
    infix("\\subseteq", &["⊆"], 5, 5),
    infix("\\subset", &["⊂"], 5, 5),
    infix("\\supseteq", &["⊇"], 5, 5),
    infix("\\supset", &["⊃"], 5, 5),
    infix("\\prec", &["≺"], 5, 5),
    infix("\\preceq", &["⪯"], 5, 5),
    infix("\\succ", &["≻"], 5, 5),
    infix("\\succeq", &["⪰"], 5, 5),
    infix("\\sqsubset", &["⊏"], 5, 5),
    infix("\\sqsubseteq", &["⊑"], 5, 5),
    infix("\\sqsupset", &["⊐"], 5, 5),
    infix("\\sqsupseteq", &["⊒"], 5, 5),
    infix("\\ll", &["≪"], 5, 5),
    infix("\\gg", &["≫"], 5, 5),
    infix("\\sim", &["∼"], 5, 5),
    infix("\\simeq", &["≃"], 5, 5),
    infix("\\approx", &["≈"], 5, 5),
    infix("\\asymp", &["≍"], 5, 5),
    infix("\\cong", &["≅"], 5, 5),
    infix("\\doteq", &["≐"], 5, 5),
    infix("\\propto", &["∝"], 5, 5),
    infix("|-", &["⊢"], 5, 5),
    infix("|=", &["⊨"], 5, 5),
    infix("-|", &["⊣"], 5, 5),
    infix("=|", &["⫤"], 5, 5),
    infix(":=", &["≔"], 5, 5),
    infix("::=", &["⩴"], 5, 5),
    left("\\cdot", &["⋅"], 5, 14),
    left("@@", &[], 6, 6),
    infix(":>", &[], 7, 7),
    infix("<:", &[], 7, 7),
    left("\\cup", &["\\union", "∪"], 8, 8),
    left("\\cap", &["\\intersect", "∩"], 8, 8),
    infix("\\", &[], 8, 8),
    infix("..", &["‥"], 9, 9),
    infix("...", &["…"], 9, 9),
    left("$", &[], 9, 13),
    left("$$", &[], 9, 13),
    left("??", &["⁇"], 9, 13),
    left("##", &[], 9, 13),
    infix("!!", &["‼"], 9, 13),
    left("\\uplus", &["⊎"], 9, 13),
    left("\\sqcap", &["⊓"], 9, 13),
    left("\\sqcup", &["⊔"], 9, 13),
    infix("\\wr", &["≀"], 9, 14),
    left("+", &[], 10, 10),
    left("++", &[], 10, 10),
    left("(+)", &["\\oplus", "⊕"], 10, 10),
    infix("%", &[], 10, 11),
    left("%%", &[], 10, 11),
    left("|", &[], 10, 11),
    left("||", &["‖"], 10, 11),
    left("\\X", &["\\times", "×"], 10, 13),
    left("-", &[], 11, 11),
    left("--", &[], 11, 11),
    left("(-)", &["\\ominus", "⊖"], 11, 11),
    left("*", &[], 13, 13),
    left("**", &[], 13, 13),
    infix("/", &[], 13, 13),
    infix("//", &[], 13, 13),
    infix("\\div", &["÷"], 13, 13),
    left("&", &[], 13, 13),
    left("&&", &[], 13, 13),
    left("\\o", &["\\circ", "∘"], 13, 13),
    left("\\star", &["⋆"], 13, 13),
    left("\\bullet", &["●"], 13, 13),
    left("\\bigcirc", &["◯"], 13, 13),
    left("(.)", &["\\odot", "⊙"], 13, 13),
    infix("(/)", &["\\oslash", "⊘"], 13, 13),
    left("(\\X)", &["\\otimes", "⊗"], 13, 13),
    infix("^", &[], 14, 14),
    infix("^^", &[], 14, 14),
    postfix("'", &[]),
    postfix("^+", &["⁺"]),
    postfix("^*", &[]),
    postfix("^#", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_means_two_symbols() {
        let mut spellings: Vec<&str> =
            OPERATORS.iter().flat_map(|op| op.synonyms.iter().copied().chain([op.name])).collect();
        let count = spellings.len();
        spellings.sort_unstable();
        spellings.dedup();
        assert_eq!(spellings.len(), count);
        assert!(OPERATORS.iter().all(|op| op.low <= op.high));
    }

    #[test]
    fn synonyms_have_one_spelling() {
        assert_eq!(
            ["\\land", "#", "\\union", "=<", "≜", "Foo"].map(canonical),
            ["/\\", "/=", "\\cup", "<=", "≜", "Foo"]
        );
    }
}
