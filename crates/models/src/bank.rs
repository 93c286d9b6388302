//! Accounts with balances that must not become negative.
//!
//! | operation | meaning |
//! |---|---|
//! | `deposit(account, amount)` | adds to a balance |
//! | `transfer(from, to, amount) = ok` | moves an amount; `ok` is `FALSE` if the balance of `from` was too small |
//! | `read() = balances` | all balances, as a function or record; accounts that it leaves out must be empty |

use std::sync::Arc;

use omnilink_history::{Call, Value};
use omnilink_search::Spec;

use crate::bind::Fields;
use crate::digits::Role;
use crate::model::at_most_one_successor;
use crate::{About, Atom, BadCall, Interner, Model, Operation, Row};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "bank",
    summary: "accounts with balances that must not become negative",
    operations: &[
        Operation::new("deposit(account, amount)", "adds to a balance", &[]),
        Operation::new(
            "transfer(from, to, amount) = ok",
            "moves an amount; `ok` is `FALSE` if the balance of `from` was too small",
            &[],
        ),
        Operation::new(
            "read() = balances",
            "all balances, as a function or record; accounts that it leaves out must be empty",
            &[],
        ),
    ],
    options: &[("alice=10", "initial balance of account `alice` [default: 0]")],
    takes_key: false,
};

/// Accounts with balances.
#[derive(Debug, Default)]
pub struct Bank {
    initial: State,
    atoms: Interner,
}

/// An operation on accounts. Results that were not recorded are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds to a balance.
    Deposit {
        /// The account.
        account: Atom,
        /// The amount.
        amount: u32,
    },
    /// Moves an amount.
    Transfer {
        /// The account to take from.
        from: Atom,
        /// The account to add to.
        to: Atom,
        /// The amount.
        amount: u32,
        /// False if the balance was too small.
        ok: Option<bool>,
    },
    /// Reads all balances.
    Read {
        /// The balances other than zero; accounts strictly increase.
        balances: Arc<[(Atom, i64)]>,
    },
}

/// The balances other than zero; accounts strictly increase.
pub type State = Row<(Atom, i64), 8>;

impl Bank {
    /// Accounts with these balances at the start; all others are empty.
    pub fn new<'a>(balances: impl IntoIterator<Item = (&'a Value, u32)>) -> Bank {
        let mut bank = Bank::default();
        for (account, balance) in balances {
            let account = bank.atoms.give(Role::Key, account);
            add(&mut bank.initial, account, i64::from(balance));
        }
        bank
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match op {
            Op::Deposit { .. } => true,
            Op::Transfer { from, amount, ok, .. } => ok.is_none_or(|ok| ok == covers(state, *from, *amount)),
            Op::Read { balances } => **balances == **state,
        }
    }

    fn balances(&self, value: &Value) -> Option<Arc<[(Atom, i64)]>> {
        let pair = |account: &Value, balance: &Value| Some((self.atoms.key(account), balance.as_int()?));
        let balances: Option<Vec<(Atom, i64)>> = match value {
            Value::Function(function) => {
                function.pairs().iter().map(|(account, balance)| pair(account, balance)).collect()
            }
            Value::Tuple(balances) => {
                (1..).zip(balances.iter()).map(|(place, balance)| pair(&Value::Int(place), balance)).collect()
            }
            _ => None,
        };
        let mut balances = balances?;
        balances.retain(|pair| pair.1 != 0);
        balances.sort_unstable();
        Some(balances.into())
    }
}

fn balance(state: &State, account: Atom) -> i64 {
    state.look_up(account).unwrap_or(0)
}

fn covers(state: &State, account: Atom, amount: u32) -> bool {
    balance(state, account) >= i64::from(amount)
}

/// Balances are sums of 32-bit amounts, one for each of fewer than 2^31 operations, so they do not overflow.
fn add(state: &mut State, account: Atom, amount: i64) {
    match balance(state, account) + amount {
        0 => state.erase(account),
        sum => state.put(account, sum),
    }
}

impl Spec for Bank {
    at_most_one_successor!(|bank| bank.initial.clone());

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Self::Error> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        matches!(op, Op::Read { .. } | Op::Transfer { ok: Some(false), .. })
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        let apart = match (a, b) {
            (Op::Deposit { .. }, Op::Deposit { .. }) => true,
            (Op::Deposit { account, .. }, Op::Transfer { from, .. })
            | (Op::Transfer { from, .. }, Op::Deposit { account, .. }) => account != from,
            (Op::Transfer { from: a, to: b, .. }, Op::Transfer { from: c, to: d, .. }) => a != c && a != d && b != c,
            _ => false,
        };
        apart || (self.is_observer(a) && self.is_observer(b))
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Deposit { .. } | Op::Transfer { ok: None, .. })
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let holds = |account: Atom| format!("account {} holds {}", self.atoms.value(account), balance(state, account));
        Some(match op {
            Op::Deposit { .. } => return None,
            Op::Transfer { from, amount, ok: Some(false), .. } => {
                format!("`transfer` of {amount} was refused, but {}", holds(*from))
            }
            Op::Transfer { from, amount, .. } => format!("`transfer` moved {amount}, but {}", holds(*from)),
            Op::Read { balances } => {
                let read = |account: Atom| balances.iter().find(|pair| pair.0 == account).map_or(0, |pair| pair.1);
                let accounts = state.iter().chain(balances.iter()).map(|pair| pair.0);
                let account = accounts.filter(|&account| read(account) != balance(state, account)).min()?;
                let (name, returned) = (self.atoms.value(account), read(account));
                format!("`read` returned {returned} for account {name}, but {}", holds(account))
            }
        })
    }
}

impl Model for Bank {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op, &self.atoms)? else { return Ok(None) };
        let account = |place, names| fields.arg(place, names).map(|value| self.atoms.key(value));
        let amount = |place| {
            let value = fields.arg(place, &["amount"])?;
            let amount = value.as_int().and_then(|int| u32::try_from(int).ok());
            amount.ok_or_else(|| fields.wrong("argument", "amount", value, "an amount from 0 to 4294967295"))
        };
        match fields.action() {
            "deposit" => {
                fields.args(2)?;
                fields.acknowledged(None)?;
                Ok(Some(Op::Deposit { account: account(0, &["account", "to"])?, amount: amount(1)? }))
            }
            "transfer" => {
                fields.args(3)?;
                let (from, to) = (account(0, &["from"])?, account(1, &["to"])?);
                Ok(Some(Op::Transfer { from, to, amount: amount(2)?, ok: fields.ok()? }))
            }
            "read" => {
                fields.args(0)?;
                let expected = "a function from accounts to balances";
                fields.needs_result("balances")?;
                let balances = fields.read_result(&["balances", "value"], expected, |value| self.balances(value))?;
                Ok(balances.map(|balances| Op::Read { balances }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        self.is_enabled(state, op).then(|| {
            let mut next = state.clone();
            match op {
                Op::Deposit { account, amount } => add(&mut next, *account, i64::from(*amount)),
                Op::Transfer { from, to, amount, .. } if covers(state, *from, *amount) => {
                    add(&mut next, *from, -i64::from(*amount));
                    add(&mut next, *to, i64::from(*amount));
                }
                _ => {}
            }
            next
        })
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Value::function(state.iter().map(|&(account, balance)| (self.atoms.value(account), Value::Int(balance))))
    }

    fn load(&self, saved: &Value) -> Option<State> {
        let mut state = State::default();
        self.balances(saved)?.iter().for_each(|&(account, balance)| state.put(account, balance));
        Some(state)
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_map(state.iter().map(|&(account, balance)| (account, Value::Int(balance))))
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::Value;

    use crate::bank::Bank;
    use crate::model::tests::{check, check_laws};

    fn bank() -> Bank {
        Bank::new([(&Value::Int(0), 5)])
    }

    #[test]
    fn money_moves_and_stays() {
        insta::assert_snapshot!(
            check(&bank(), "transfer(0, 1, 3) = TRUE; transfer(0, 1, 3) = FALSE; read() = [0: 2, 1: 3]; read() = <5>"),
            @"read() = <5>: `read` returned 0 for account 0, but account 0 holds 2"
        );
        insta::assert_snapshot!(
            check(&bank(), "deposit(2, 1); read() = [0: 5, 2: 1, 3: 0]; transfer(2, 0, 2) = TRUE"),
            @"transfer(2, 0, 2) = TRUE: `transfer` moved 2, but account 2 holds 1"
        );
        insta::assert_snapshot!(
            check(&bank(), "transfer(1, 0, 2)?; transfer(0, 1, 5) = FALSE"),
            @"transfer(0, 1, 5) = FALSE: `transfer` of 5 was refused, but account 0 holds 5"
        );
        insta::assert_snapshot!(
            check(&bank(), "transfer([from: 0, to: 1, amount: 5]); transfer(0, 1, 1) = TRUE"),
            @"transfer(0, 1, 1) = TRUE: `transfer` moved 1, but account 0 holds 0"
        );
        insta::assert_snapshot!(
            check(&bank(), "transfer([from: 0, amount: 5, sum: 1])"),
            @"`transfer` has no argument `to`; it has `amount`, `from`, `sum`"
        );
        insta::assert_snapshot!(
            check(&bank(), "transfer(1, 0, -2)"),
            @"the argument `amount` of `transfer` is `-2`, not an amount from 0 to 4294967295"
        );
        insta::assert_snapshot!(
            check(&bank(), "read() = 5"),
            @"the result `balances` of `read` is `5`, not a function from accounts to balances"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "deposit(0, 1); deposit(1, 1)?; transfer(0, 1, 5) = TRUE; transfer(1, 2, 1); \
                     transfer(0, 2, 6) = FALSE; transfer(2, 3, 1)?; transfer(2, 2, 1); read() = [0: 5]";
        check_laws(&bank(), calls);
    }
}
