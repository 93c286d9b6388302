//! `#[omnilink::sim]`: a function that runs a simulated cluster becomes a test of many seeds.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, ItemFn, Result};

use crate::arguments::each_argument;
use crate::test::against;

/// The arguments of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    spec: Option<Expr>,
    /// Fields of the test that are passed through unchanged.
    others: Vec<(Ident, Expr)>,
}

const OTHERS: [&str; 4] = ["level", "seeds", "jobs", "repeat"];

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        each_argument(input, |name| {
            match name.to_string().as_str() {
                "spec" => arguments.spec = Some(input.parse()?),
                other if OTHERS.contains(&other) => arguments.others.push((name, input.parse()?)),
                other => {
                    let message = format!("unrecognized argument `{other}` (expected spec, {})", OTHERS.join(", "));
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
    let Some(spec) = &arguments.spec else {
        return Err(wrong("no specification given: write `#[omnilink::sim(spec = \"kv\")]`"));
    };
    let is_plain = function.sig.asyncness.is_none() && function.sig.generics.params.is_empty();
    if !is_plain || function.sig.inputs.len() != 2 {
        return Err(wrong(
            "expected a plain function with the parameters seed and history: `fn name(seed: u64, history: History)`",
        ));
    }
    let spec = against(spec);
    let fields = arguments.others.iter().map(|(field, value)| match field == "level" {
        true => quote!(simulation.level = (#value).into();),
        false => quote!(simulation.#field = #value;),
    });
    let mut simulate = function.clone();
    simulate.attrs.clear();
    simulate.vis = syn::Visibility::Inherited;
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        fn #name() {
            #[allow(unused_mut)]
            let mut simulation = ::omnilink::sim::Simulation::new(
                concat!(module_path!(), "::", stringify!(#name)),
                env!("CARGO_MANIFEST_DIR"),
                #spec,
            );
            #(#fields)*
            #simulate
            simulation.run(#name);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, function: &str) -> String {
        let expanded =
            syn::parse_str::<Arguments>(arguments).and_then(|arguments| expand(&arguments, &syn::parse_str(function)?));
        expanded.map_or_else(|error| error.to_string(), |_| "a test".into())
    }

    #[test]
    fn misuse_is_explained() {
        let good = "fn works(seed: u64, history: History) {}";
        assert_eq!(check("spec = \"kv\", seeds = 20", good), "a test");
        insta::assert_snapshot!(check("", good), @r#"no specification given: write `#[omnilink::sim(spec = "kv")]`"#);
        insta::assert_snapshot!(check("seed = 2", good), @"unrecognized argument `seed` (expected spec, level, seeds, jobs, repeat)");
        let spec = "spec = \"kv\"";
        let expected =
            "expected a plain function with the parameters seed and history: `fn name(seed: u64, history: History)`";
        for function in ["fn works(seed: u64) {}", "async fn works(seed: u64, history: History) {}"] {
            assert_eq!(check(spec, function), expected);
        }
    }
}
