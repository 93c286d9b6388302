//! Partial order reduction: every class, none twice.

use omnilink_explore::Order;
use omnilink_explore::strategy::{Dpor, Strategy};

use crate::machine::{Op, Program};
use crate::oracle::{brute_force, explore, lost_update, set};

/// Explores a program, compares with brute force, and says how many classes there are and how many executions were
/// broken off.
fn check(program: &Program) -> (usize, u64) {
    let all = brute_force(program, usize::MAX).unwrap();
    let mut dpor = Dpor::new(Order::default());
    let seen = explore(program, &mut dpor);
    let classes = set(&seen, |seen| seen.class.clone());
    assert_eq!(classes, set(&all, |seen| seen.class.clone()));
    assert_eq!(classes.len(), seen.len(), "a class was seen twice");
    assert!(dpor.is_complete());
    (seen.len(), dpor.tally().asleep)
}

#[test]
fn lost_updates_have_known_numbers_of_classes() {
    assert_eq!(check(&lost_update(2, 1)), (4, 0));
    assert_eq!(check(&lost_update(2, 2)), (34, 0));
    assert_eq!(check(&lost_update(3, 1)), (36, 0));
}
