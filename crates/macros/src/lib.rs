//! Macros of OmniLink, re-exported by the crates whose items they speak of.

mod operation;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes an enum say what a call turned out to be. See the trait `Operation` of `omnilink-record`.
#[proc_macro_derive(Operation, attributes(operation, result))]
pub fn derive_operation(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    operation::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
