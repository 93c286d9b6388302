//! `Describe` for an item with errors, without calls. Without it, every use of the object would be an error of its own, and
//! hide the one to mend.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{ItemImpl, ItemTrait};

use super::{Arguments, choose, replace};

fn stub(generics: &TokenStream, of_type: &TokenStream, bounds: &TokenStream, root: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #generics #root::object::Describe for #of_type #bounds {
            type Shared = ();

            fn share(self) -> Self::Shared {}

            fn calls() -> ::std::vec::Vec<#root::object::Call<Self::Shared>> {
                ::std::vec::Vec::new()
            }
        }
    }
}

/// For an `impl` block: of the chosen types, or of all if one is missing.
pub(super) fn of_block(arguments: &Arguments, block: &ItemImpl, root: &TokenStream) -> TokenStream {
    let of_type = block.self_ty.to_token_stream();
    match choose(arguments, &block.generics) {
        Ok(replacements) => stub(&quote!(), &replace(of_type, &replacements), &quote!(), root),
        Err(_) => {
            let (generics, _, bounds) = block.generics.split_for_impl();
            stub(&quote!(#generics), &of_type, &quote!(#bounds), root)
        }
    }
}

/// For a trait: of the type that holds an implementation.
pub(super) fn of_trait(definition: &ItemTrait, root: &TokenStream) -> TokenStream {
    let (holder, visibility) = (format_ident!("{}Object", definition.ident), &definition.vis);
    let implementation = stub(&quote!(<T>), &quote!(#holder<T>), &quote!(), root);
    quote! {
        #[allow(missing_docs)]
        #visibility struct #holder<T>(pub T);

        #implementation
    }
}
