//! `#[omnilink::test]`: a function that performs one operation becomes a test that performs many. If the attribute names
//! an object whose calls are listed, the function only names the test.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, FnArg, Ident, ItemFn, Result, Type};

use crate::arguments::each_argument;

/// The arguments of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    spec: Option<Expr>,
    /// The level of the transactions that a step performs, instead of a specification.
    isolation: Option<Expr>,
    system: Option<Expr>,
    object: Option<Expr>,
    /// Fields of the test that are passed through unchanged.
    others: Vec<(Ident, Expr)>,
}

const OTHERS: [&str; 4] = ["level", "threads", "operations", "runs"];

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        each_argument(input, |name| {
            match name.to_string().as_str() {
                "spec" => arguments.spec = Some(input.parse()?),
                "isolation" => arguments.isolation = Some(input.parse()?),
                "system" => arguments.system = Some(input.parse()?),
                "object" => arguments.object = Some(input.parse()?),
                other if OTHERS.contains(&other) => arguments.others.push((name, input.parse()?)),
                other => {
                    let message = format!(
                        "unrecognized argument `{other}` (expected spec, isolation, system, object, {})",
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
    let name = &function.sig.ident;
    let wrong = |message: &str| Error::new_spanned(&function.sig, message);
    let spec = match (&arguments.spec, &arguments.isolation) {
        (None, None) => {
            return Err(wrong("no specification given: write `#[omnilink::test(spec = \"queue\")]`"));
        }
        (Some(spec), None) => against(spec),
        (None, Some(level)) => quote!(#level),
        (Some(_), Some(_)) => return Err(wrong("expected `spec` or `isolation`, found both")),
    };
    let has_level = arguments.others.iter().any(|(name, _)| name == "level");
    if arguments.isolation.is_some() && (has_level || arguments.object.is_some()) {
        return Err(wrong("expected no `level` and no `object` with `isolation`"));
    }
    if function.sig.asyncness.is_some() || !function.sig.generics.params.is_empty() {
        return Err(wrong("expected a plain function, neither async nor generic"));
    }
    let body = match &arguments.object {
        Some(object) => {
            let is_empty = function.sig.inputs.is_empty() && function.block.stmts.is_empty();
            if !is_empty || arguments.system.is_some() {
                return Err(wrong(
                    "the object is the system, and lists its calls: expected `fn name() {}`, and no `system`",
                ));
            }
            quote!(test.run_object(|| #object);)
        }
        None => step(arguments, function)?,
    };
    let fields = arguments.others.iter().map(|(field, value)| quote!(test.#field = (#value).into();));
    let attributes = &function.attrs;
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        fn #name() {
            #[allow(unused_mut)]
            let mut test = ::omnilink::testing::Test::new(
                concat!(module_path!(), "::", stringify!(#name)),
                env!("CARGO_MANIFEST_DIR"),
                #spec,
            );
            #(#fields)*
            #body
        }
    })
}

/// The specification: a name, or a user's object.
pub(crate) fn against(spec: &Expr) -> TokenStream {
    match spec {
        Expr::Lit(name) => quote!(#name),
        object => quote!(::omnilink::testing::Against::object(stringify!(#object), || #object)),
    }
}

/// Runs a test whose function is the step.
fn step(arguments: &Arguments, function: &ItemFn) -> Result<TokenStream> {
    let name = &function.sig.ident;
    let inputs: Vec<&Type> = function
        .sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(input) => Some(&*input.ty),
            FnArg::Receiver(_) => None,
        })
        .collect();
    let [Type::Reference(system), Type::Reference(_)] = &*inputs else {
        let message = match &arguments.isolation {
            None => "expected the parameters system and client: `fn name(queue: &Queue, client: &mut Client)`",
            Some(_) => "expected the parameters system and session: `fn name(store: &Store, session: &mut Session)`",
        };
        return Err(Error::new_spanned(&function.sig, message));
    };
    let run = if arguments.isolation.is_some() { quote!(run_transactions) } else { quote!(run) };
    let system_type = &system.elem;
    let made = match &arguments.system {
        Some(expression) => quote!(#expression),
        None => quote!(<#system_type as ::core::default::Default>::default()),
    };
    let mut step = function.clone();
    step.attrs.clear();
    step.vis = syn::Visibility::Inherited;
    Ok(quote! {
        #step
        test.#run(|| -> #system_type { #made }, #name);
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
        let good = "fn works(queue: &Queue, client: &mut Client) {}";
        assert_eq!(check("spec = \"queue\", threads = 2, system = Queue::new(4)", good), "a test");
        assert_eq!(check("spec = Tickets::default()", good), "a test");
        insta::assert_snapshot!(check("", good), @r#"no specification given: write `#[omnilink::test(spec = "queue")]`"#);
        insta::assert_snapshot!(check("thread = 2", good), @"unrecognized argument `thread` (expected spec, isolation, system, object, level, threads, operations, runs)");
        let spec = "spec = \"queue\"";
        insta::assert_snapshot!(check(spec, "fn works() {}"), @"expected the parameters system and client: `fn name(queue: &Queue, client: &mut Client)`");
        insta::assert_snapshot!(check(spec, "async fn works(queue: &Queue, client: &mut Client) {}"), @"expected a plain function, neither async nor generic");
        let transaction = "fn works(store: &Store, session: &mut Session) {}";
        assert_eq!(check("isolation = \"snapshot\", threads = 3", transaction), "a test");
        insta::assert_snapshot!(check("isolation = \"snapshot\"", "fn works() {}"), @"expected the parameters system and session: `fn name(store: &Store, session: &mut Session)`");
        insta::assert_snapshot!(check("isolation = \"snapshot\", spec = \"kv\"", transaction), @"expected `spec` or `isolation`, found both");
        insta::assert_snapshot!(check("isolation = \"snapshot\", level = \"causal\"", transaction), @"expected no `level` and no `object` with `isolation`");
        let object = "spec = \"queue\", object = Queue::new(), runs = 4";
        assert_eq!(check(object, "fn works() {}"), "a test");
        insta::assert_snapshot!(check(object, good), @"the object is the system, and lists its calls: expected `fn name() {}`, and no `system`");
    }
}
