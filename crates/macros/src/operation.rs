//! `#[derive(Operation)]`: an enum whose variants are actions.
//!
//! The enum describes a call that returned. A second enum, with the same name and `Call` appended, describes a call
//! that begins: it has a variant for each action that can be called, with the arguments only. A variant with
//! `#[operation(call = "Other")]` is another outcome of `Other` and gets no variant there.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Type, Variant};

/// One variant.
struct Action<'a> {
    name: &'a Ident,
    call: Option<LitStr>, // The call of which this is another outcome.
    args: Vec<Field<'a>>,
    results: Vec<Field<'a>>,
}

struct Field<'a> {
    name: &'a Ident,
    of_type: &'a Type,
}

/// The implementations for one enum, or all errors in it.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "expected an enum: each variant is an action"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "generic operations are unsupported: a trace holds plain values",
        ));
    }
    let mut actions = Vec::new();
    let mut errors: Option<Error> = None;
    for variant in &data.variants {
        match Action::new(variant) {
            Ok(action) => actions.push(action),
            Err(error) => combine(&mut errors, error),
        }
    }
    let is_call = |name: &LitStr| actions.iter().any(|action| action.call.is_none() && action.name == &name.value());
    for call in actions.iter().filter_map(|action| action.call.as_ref()).filter(|call| !is_call(call)) {
        let message = format!("`{}` is not a variant that can be called", call.value());
        combine(&mut errors, Error::new(call.span(), message));
    }
    match errors {
        Some(errors) => Err(errors),
        None => Ok(generate(input, &actions)),
    }
}

pub(crate) fn combine(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

impl<'a> Action<'a> {
    fn new(variant: &'a Variant) -> Result<Action<'a>> {
        let mut action =
            Action { name: &variant.ident, call: call(&variant.attrs)?, args: Vec::new(), results: Vec::new() };
        match &variant.fields {
            Fields::Unit => {}
            Fields::Named(fields) => {
                for field in &fields.named {
                    let name = field.ident.as_ref().expect("named fields have names");
                    let is_result = field.attrs.iter().any(|attribute| attribute.path().is_ident("result"));
                    let fields = if is_result { &mut action.results } else { &mut action.args };
                    fields.push(Field { name, of_type: &field.ty });
                }
            }
            Fields::Unnamed(fields) => {
                let message = format!("fields have names in a trace: write `{} {{ name: … }}`", variant.ident);
                return Err(Error::new(fields.span(), message));
            }
        }
        Ok(action)
    }

    /// The `Action` of this variant. A call begins as one action and may end as any other outcome of it, so it has
    /// the names of all.
    fn definition(&self, all: &[Action<'_>]) -> TokenStream {
        let is_outcome = |action: &&Action<'_>| action.call.as_ref().is_some_and(|call| self.name == &call.value());
        let outcomes = all.iter().filter(is_outcome).map(|action| action.name.to_string());
        let name = std::iter::once(self.name.to_string()).chain(outcomes).collect::<Vec<_>>().join("|");
        let names = |fields: &[Field<'_>]| -> Vec<String> { fields.iter().map(|field| plain(field.name)).collect() };
        let (args, results) = (names(&self.args), names(&self.results));
        let ident = self.constant();
        quote! {
            static #ident: ::omnilink_record::Action =
                ::omnilink_record::Action::new(#name, &[#(#args),*], &[#(#results),*]);
        }
    }

    fn constant(&self) -> Ident {
        format_ident!("ACTION_{}", plain(self.name))
    }
}

/// The argument of `#[operation(call = "...")]`.
fn call(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let mut call = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("operation")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("call") {
                return Err(meta.error("the only key is `call`: the variant that this is another outcome of"));
            }
            call = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(call)
}

/// An identifier as written to a trace: `r#type` is `type`.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

fn generate(input: &DeriveInput, actions: &[Action<'_>]) -> TokenStream {
    let (name, visibility) = (&input.ident, &input.vis);
    let call_name = format_ident!("{name}Call");
    let definitions = actions.iter().map(|action| action.definition(actions));
    let outcomes = actions.iter().map(|action| {
        let (variant, constant) = (action.name, action.constant());
        let args: Vec<_> = action.args.iter().map(|field| field.name).collect();
        let results: Vec<_> = action.results.iter().map(|field| field.name).collect();
        quote! {
            #name::#variant { #(#args,)* #(#results,)* } =>
                outcome.done(&#constant, (#(#args,)*), (#(#results,)*)),
        }
    });
    let calls: Vec<_> = actions.iter().filter(|action| action.call.is_none()).collect();
    let variants = calls.iter().map(|action| {
        let variant = action.name;
        let doc = format!("A call of `{}`.", plain(variant));
        let fields = action.args.iter().map(|Field { name, of_type }| {
            let doc = format!("The argument `{}`.", plain(name));
            quote!(#[doc = #doc] #name: #of_type)
        });
        if action.args.is_empty() {
            quote!(#[doc = #doc] #variant,)
        } else {
            quote!(#[doc = #doc] #variant { #(#fields,)* },)
        }
    });
    let begins = calls.iter().map(|action| {
        let (variant, constant) = (action.name, action.constant());
        let args: Vec<_> = action.args.iter().map(|field| field.name).collect();
        quote!(#call_name::#variant { #(#args,)* } => process.call(&#constant, (#(#args,)*)),)
    });
    let doc = format!("A call of [`{name}`] that begins.");
    quote! {
        #[doc = #doc]
        #visibility enum #call_name {
            #(#variants)*
        }

        const _: () = {
            #(#[allow(non_upper_case_globals)] #definitions)*

            #[automatically_derived]
            impl ::omnilink_record::Operation for #name {
                type Call = #call_name;

                fn finish(&self, outcome: ::omnilink_record::Outcome<'_>) {
                    match self {
                        #(#outcomes)*
                    }
                }
            }

            #[automatically_derived]
            impl ::omnilink_record::Call for #call_name {
                type Operation = #name;

                fn begin<'a>(
                    &self,
                    process: &'a mut ::omnilink_record::Process,
                ) -> ::omnilink_record::Pending<'a> {
                    match self {
                        #(#begins)*
                    }
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors for an item.
    fn check(item: &str) -> String {
        match expand(&syn::parse_str(item).unwrap()) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn misuse_is_explained() {
        assert_eq!(check("enum Op { Put { key: u8, #[result] old: u8 }, #[operation(call = \"Put\")] Full }"), "fine");
        insta::assert_snapshot!(check("struct Op { key: u8 }"), @"expected an enum: each variant is an action");
        insta::assert_snapshot!(check("enum Op<T> { Put { key: T } }"), @"generic operations are unsupported: a trace holds plain values");
        insta::assert_snapshot!(
            check("enum Op { Put(u8), Get { key: u8 }, #[operation(call = \"Put\")] Full, #[operation(calls)] Other }"),
            @"
            fields have names in a trace: write `Put { name: … }`
            the only key is `call`: the variant that this is another outcome of
            `Put` is not a variant that can be called
            "
        );
        insta::assert_snapshot!(check("enum Op { #[operation(call = \"B\")] A, #[operation(call = \"A\")] B }"), @"
        `B` is not a variant that can be called
        `A` is not a variant that can be called
        ");
    }
}
