//! Each mistake, and its correction.

macro_rules! tests {
    ($($name:ident)*) => {
        mod wrong {
            $(#[test]
            fn $name() {
                seeded::sync::explore(|| seeded::$name(false));
            })*
        }
        mod right {
            $(#[test]
            fn $name() {
                seeded::sync::explore(|| seeded::$name(true));
            })*
        }
    };
}

tests! {
    wrong_empty_check tearing_length early_publish weakened_ordering aba lost_wake_up missing_recheck double_free
    use_after_free lock_order read_modify_write seqlock_without_fences
}
