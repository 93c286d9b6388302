//! Harnesses: `omnilink gen` writes one from a specification, `omnilink init` a project around one.

pub(crate) mod generate;
pub(crate) mod init;
mod template;
