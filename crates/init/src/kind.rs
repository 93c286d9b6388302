//! The choices of a user: the language of a harness, the template of a project, and the service for CI.

use clap::ValueEnum;

/// The language of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Rust
    Rust,
    /// C++
    Cpp,
}

impl Language {
    /// The language, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Cpp => "cpp",
        }
    }

    /// The generated file, in the directory of the harness.
    pub fn generated(self) -> &'static str {
        match self {
            Language::Rust => "src/operations.rs",
            Language::Cpp => "operations.hpp",
        }
    }

    /// The file to fill in, in the directory of the harness.
    pub fn main(self) -> &'static str {
        match self {
            Language::Rust => "src/main.rs",
            Language::Cpp => "main.cpp",
        }
    }
}

/// A new project with a specification and a small working system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// FIFO queue; a dequeue may find it empty.
    Queue,
    /// One value with read, write and compare-and-set.
    Register,
    /// Key-value map.
    Map,
    /// Lock with an owner.
    Lock,
    /// Transactional store under snapshot isolation.
    Transaction,
}

/// A service that runs the harness on every change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ci {
    /// GitHub Actions
    Github,
    /// GitLab CI/CD
    Gitlab,
    /// No service
    None,
}
