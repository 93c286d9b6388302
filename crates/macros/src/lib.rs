//! Macros of OmniLink, re-exported by the crates whose items they refer to.
//!
//! Use them through those crates, whose documentation has examples:
//!
//! - `#[derive(Operation)]` in [`omnilink_record::Operation`], with the feature `derive`;
//! - `#[omnilink::test]`, `#[omnilink::lineup]` and `#[omnilink::sim]` in [`omnilink`].
//!
//! [`omnilink_record::Operation`]: https://docs.rs/omnilink-record/latest/omnilink_record/trait.Operation.html
//! [`omnilink`]: https://docs.rs/omnilink

mod arguments;
mod lineup;
mod object;
mod operation;
mod sim;
mod test;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, ItemFn, parse_macro_input};

/// Derives [`Operation`](https://docs.rs/omnilink-record/latest/omnilink_record/trait.Operation.html) for an enum of call
/// outcomes.
#[proc_macro_derive(Operation, attributes(operation, result))]
pub fn derive_operation(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    operation::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Lists the calls of an object. See the trait `Describe` of `omnilink-record`, which re-exports this.
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as object::Arguments);
    let expanded = object::expand(&arguments, item.into(), &quote!(::omnilink_record));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The same for programs that depend on `omnilink`, which re-exports this as `object`.
#[proc_macro_attribute]
pub fn object_in_omnilink(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as object::Arguments);
    let expanded = object::expand(&arguments, item.into(), &quote!(::omnilink));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns an empty function into a test of an object without a specification. See [`omnilink`](https://docs.rs/omnilink).
#[proc_macro_attribute]
pub fn lineup(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as lineup::Arguments);
    let function = parse_macro_input!(item as ItemFn);
    lineup::expand(&arguments, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns a function that performs one operation into a test. See [`omnilink`](https://docs.rs/omnilink).
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as test::Arguments);
    let function = parse_macro_input!(item as ItemFn);
    test::expand(&arguments, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns a function that runs a simulated cluster into a test of many seeds. See [`omnilink`](https://docs.rs/omnilink).
#[proc_macro_attribute]
pub fn sim(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as sim::Arguments);
    let function = parse_macro_input!(item as ItemFn);
    sim::expand(&arguments, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}
