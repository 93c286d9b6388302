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
    /// The level of the clients' transactions, instead of a specification of their calls.
    isolation: Option<Expr>,
    /// The TLA+ module of the nodes' events.
    log: Option<Expr>,
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
                "isolation" => arguments.isolation = Some(input.parse()?),
                "log" => arguments.log = Some(input.parse()?),
                other if OTHERS.contains(&other) => arguments.others.push((name, input.parse()?)),
                other => {
                    let message = format!(
                        "unrecognized argument `{other}` (expected spec, isolation, log, {})",
                        OTHERS.join(", ")
                    );
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
    let Arguments { spec, isolation, log, others } = arguments;
    if spec.is_none() && isolation.is_none() && log.is_none() {
        return Err(wrong("no specification given: write `#[omnilink::sim(spec = \"kv\")]`"));
    }
    if spec.is_some() && isolation.is_some() {
        return Err(wrong("expected `spec` or `isolation`, found both"));
    }
    if spec.is_none() && others.iter().any(|(name, _)| name == "level") {
        return Err(wrong("expected no `level` without `spec`"));
    }
    let is_plain = function.sig.asyncness.is_none() && function.sig.generics.params.is_empty();
    if !is_plain || function.sig.inputs.len() != 2 {
        return Err(wrong(
            "expected a plain function with the parameters seed and history: `fn name(seed: u64, history: History)`",
        ));
    }
    let spec = spec.iter().map(|spec| {
        let spec = against(spec);
        quote!(simulation.spec = ::core::option::Option::Some((#spec).into());)
    });
    let isolation = isolation.iter().map(|level| quote!(simulation.isolation = ::core::option::Option::Some(#level);));
    let log = log.iter().map(|module| quote!(simulation.log = ::core::option::Option::Some(#module);));
    let fields = others.iter().map(|(field, value)| match field == "level" {
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
            );
            #(#spec)*
            #(#isolation)*
            #(#log)*
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
        insta::assert_snapshot!(check("seed = 2", good), @"unrecognized argument `seed` (expected spec, isolation, log, level, seeds, jobs, repeat)");
        assert_eq!(check("isolation = \"serializable\", log = \"Raft.tla\"", good), "a test");
        insta::assert_snapshot!(check("spec = \"kv\", isolation = \"snapshot\"", good), @"expected `spec` or `isolation`, found both");
        insta::assert_snapshot!(check("log = \"Raft.tla\", level = \"causal\"", good), @"expected no `level` without `spec`");
        let spec = "spec = \"kv\"";
        let expected =
            "expected a plain function with the parameters seed and history: `fn name(seed: u64, history: History)`";
        for function in ["fn works(seed: u64) {}", "async fn works(seed: u64, history: History) {}"] {
            assert_eq!(check(spec, function), expected);
        }
    }
}
