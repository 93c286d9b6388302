//! Strategies against brute force, on a machine of our own.

mod bounds;
mod classes;
mod machine;
mod oracle;
