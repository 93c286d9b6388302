//! The arguments of attributes: `name = value`, separated by commas.

use syn::parse::ParseStream;
use syn::{Ident, Result, Token};

/// Calls `read` with each name, to parse its value.
pub(crate) fn each_argument(input: ParseStream<'_>, mut read: impl FnMut(Ident) -> Result<()>) -> Result<()> {
    while !input.is_empty() {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        read(name)?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}
