//! `#[omnilink::lineup]`: an empty function becomes a test of an object without a specification.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, ItemFn, Result};

use crate::arguments::each_argument;

/// The arguments of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    object: Option<Expr>,
    /// Fields of the test that are passed through unchanged.
    others: Vec<(Ident, Expr)>,
}

const OTHERS: [&str; 4] = ["threads", "calls", "tests", "runs"];

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        each_argument(input, |name| {
            match name.to_string().as_str() {
                "object" => arguments.object = Some(input.parse()?),
                other if OTHERS.contains(&other) => arguments.others.push((name, input.parse()?)),
                other => {
                    let message = format!("unrecognized argument `{other}` (expected object, {})", OTHERS.join(", "));
                    return Err(Error::new(name.span(), message));
                }
            }
            Ok(())
        })?;
        Ok(arguments)
    }
}

pub(crate) fn expand(arguments: &Arguments, function: &ItemFn) -> Result<TokenStream> {
    let (name, attributes) = (&function.sig.ident, &function.attrs);
    let wrong = |message: &str| Error::new_spanned(&function.sig, message);
    let Some(object) = &arguments.object else {
        return Err(wrong("no object given: write `#[omnilink::lineup(object = Queue::new())]`"));
    };
    let is_plain = function.sig.asyncness.is_none() && function.sig.generics.params.is_empty();
    if !is_plain || !function.sig.inputs.is_empty() || !function.block.stmts.is_empty() {
        return Err(wrong("the object lists its calls: expected `fn name() {}`"));
    }
    let fields = arguments.others.iter().map(|(field, value)| quote!(test.#field = #value;));
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        fn #name() {
            #[allow(unused_mut)]
            let mut test = ::omnilink::lineup::ObjectTest::new(
                concat!(module_path!(), "::", stringify!(#name)),
                env!("CARGO_MANIFEST_DIR"),
            );
            #(#fields)*
            test.run(|| #object);
        }
    })
}
