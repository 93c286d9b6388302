//! One test in three simulators: see `tests/store`, which turmoil, shuttle and madsim run with other imports.
