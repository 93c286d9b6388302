//! `#[object]`: the methods of an `impl` block or of a trait become calls that can be listed, made and recorded.
//!
//! The item stays as it is, without the attributes `#[calls]`. The implementation of `Describe` beside it has one
//! closure for each call: it makes the arguments, records the call, calls the method and records the result.
//!
//! The types of a signature decide how values are recorded: `Option`, `Result`, tuples, slices, arrays, `Vec` and strings are
//! taken apart here, because traits alone cannot choose for a part of a type. All other types are chosen for by the
//! compiler; see `Plain` in `omnilink-record`. Types are only read as tokens: parameters of the `impl` block and
//! `Self` are replaced, because the implementation is for one type.

mod stub;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, Generics, Ident, ImplItem, ItemImpl, ItemTrait, Pat,
    Path, PathArguments, ReceiverKind, Result, ReturnType, Safety, Signature, Token, TraitItem, Type, Visibility,
};

use crate::arguments::each_argument;
use crate::operation::{combine, plain};

/// The arguments of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    lock: Option<Path>,
    /// The types or numbers for the parameters of the `impl` block.
    chosen: Vec<(Ident, GenericArgument)>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        let mut arguments = Arguments::default();
        each_argument(input, |name| {
            if name == "lock" {
                arguments.lock = Some(input.parse()?);
            } else {
                arguments.chosen.push((name, input.parse()?));
            }
            Ok(())
        })?;
        Ok(arguments)
    }
}

/// The item and the implementation of `Describe`, or the item and all errors in it. `root` is the path of the crate that
/// has the module `object`.
pub(crate) fn expand(arguments: &Arguments, item: TokenStream, root: &TokenStream) -> Result<TokenStream> {
    let (item, implementation, stub) = if let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) {
        let stub = stub::of_block(arguments, &block, root);
        let implementation = describe_block(arguments, &mut block, root);
        // Methods are public so that they are calls, even those of a private type.
        block.attrs.push(syn::parse_quote!(#[allow(unreachable_pub)]));
        (block.into_token_stream(), implementation, stub)
    } else if let Ok(mut definition) = syn::parse2::<ItemTrait>(item.clone()) {
        let stub = stub::of_trait(&definition, root);
        let implementation = describe_trait(arguments, &mut definition, root);
        (definition.into_token_stream(), implementation, stub)
    } else {
        return Err(Error::new_spanned(item, "expected an `impl` block or a trait: its methods are the calls"));
    };
    let implementation = implementation.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#error #stub)
    });
    Ok(quote!(#item #implementation))
}

fn describe_block(arguments: &Arguments, block: &mut ItemImpl, root: &TokenStream) -> Result<TokenStream> {
    let mut methods = Vec::new();
    let is_trait = block.trait_.is_some();
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            let is_public = is_trait || matches!(method.vis, Visibility::Public(_));
            methods.push(Method::take(&mut method.attrs, &method.sig, is_public));
        }
    }
    let mut replacements = choose(arguments, &block.generics)?;
    let object = replace(block.self_ty.to_token_stream(), &replacements);
    let owner = match &block.trait_ {
        Some((path, _)) => {
            let path = replace(path.to_token_stream(), &replacements);
            quote!(<#object as #path>)
        }
        None => quote!(<#object>),
    };
    replacements.push(Replacement { name: "Self".into(), alone: object.clone(), qualified: owner.clone() });
    let target = Target { object: object.clone(), owner, lock: arguments.lock.as_ref(), replacements, root };
    let calls = target.calls(methods, block.impl_token.span)?;
    Ok(target.implementation(&quote!(), &object, &quote!(self), &calls))
}

fn describe_trait(arguments: &Arguments, definition: &mut ItemTrait, root: &TokenStream) -> Result<TokenStream> {
    let mut methods = Vec::new();
    for item in &mut definition.items {
        if let TraitItem::Fn(method) = item {
            methods.push(Method::take(&mut method.attrs, &method.sig, true));
        }
    }
    if !definition.generics.params.is_empty() {
        let message = "a generic trait has no type for its parameters: describe an `impl` of it instead";
        return Err(Error::new_spanned(&definition.generics, message));
    }
    if let Some((name, _)) = arguments.chosen.first() {
        return Err(unrecognized(name));
    }
    let (name, visibility) = (&definition.ident, &definition.vis);
    let object = quote!(OmnilinkImplementation);
    let owner = quote!(<#object as #name>);
    let replacements = vec![Replacement { name: "Self".into(), alone: object.clone(), qualified: owner.clone() }];
    let target = Target { object: object.clone(), owner, lock: arguments.lock.as_ref(), replacements, root };
    let calls = target.calls(methods, definition.ident.span())?;
    let holder = format_ident!("{name}Object");
    let doc = format!("An implementation of [`{name}`] whose calls are listed.");
    let bound = if arguments.lock.is_some() { quote!(Send) } else { quote!(Sync) };
    let generics = quote!(<#object: #name + ::core::marker::#bound + 'static>);
    let implementation = target.implementation(&generics, &quote!(#holder<#object>), &quote!(self.0), &calls);
    Ok(quote! {
        #[doc = #doc]
        #visibility struct #holder<T>(
            /// The implementation.
            pub T,
        );

        #implementation
    })
}

fn unrecognized(name: &Ident) -> Error {
    let message = format!("unrecognized argument `{name}` (expected lock, or a parameter of the `impl` block)");
    Error::new(name.span(), message)
}

/// A name and the tokens that stand for it.
struct Replacement {
    name: String,
    alone: TokenStream,
    qualified: TokenStream, // Before `::`.
}

/// The types chosen for the parameters of a block.
fn choose(arguments: &Arguments, generics: &Generics) -> Result<Vec<Replacement>> {
    let parameters = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some((&parameter.ident, "i64")),
        GenericParam::Const(parameter) => Some((&parameter.ident, "4")),
        GenericParam::Lifetime(_) => None,
    });
    let parameters: Vec<(&Ident, &str)> = parameters.collect();
    let is_known = |name: &Ident| parameters.iter().any(|(other, _)| *other == name);
    if let Some((name, _)) = arguments.chosen.iter().find(|(name, _)| !is_known(name)) {
        return Err(unrecognized(name));
    }
    let mut errors = None;
    let mut replacements = Vec::new();
    for (name, example) in parameters {
        match arguments.chosen.iter().find(|(other, _)| other == name) {
            Some((_, chosen)) => {
                let (alone, qualified) = (quote!(#chosen), quote!(<#chosen>));
                replacements.push(Replacement { name: name.to_string(), alone, qualified });
            }
            None => {
                let message = format!(
                    "calls are made on an object of one type: choose `{name}`, such as `#[object({name} = {example})]`"
                );
                combine(&mut errors, Error::new(name.span(), message));
            }
        }
    }
    if let Some(parameter) = generics.lifetimes().next() {
        let message = "an object is made anew for each execution and cannot borrow: use `'static` here";
        combine(&mut errors, Error::new_spanned(parameter, message));
    }
    errors.map_or(Ok(replacements), Err)
}

/// Replaces names in a type or an expression, and lifetimes other than `'static` with `'_`, because those of a signature
/// have no names elsewhere.
fn replace(tokens: TokenStream, replacements: &[Replacement]) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |place: usize, sign: char| matches!(tokens.get(place), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let mut replaced = TokenStream::new();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace(group.stream(), replacements));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Ident(ident) if place > 0 && is(place - 1, '\'') => {
                let name = if ident == "static" { ident.clone() } else { Ident::new("_", ident.span()) };
                replaced.extend([TokenTree::Ident(name)]);
            }
            TokenTree::Ident(ident) if place == 0 || !is(place - 1, ':') || !is(place.saturating_sub(2), ':') => {
                match replacements.iter().find(|replacement| ident == &replacement.name) {
                    Some(replacement) if is(place + 1, ':') && is(place + 2, ':') => {
                        replaced.extend(replacement.qualified.clone());
                    }
                    Some(replacement) => replaced.extend(replacement.alone.clone()),
                    None => replaced.extend([token.clone()]),
                }
            }
            _ => replaced.extend([token.clone()]),
        }
    }
    replaced
}

/// A method and its attribute `#[calls]`.
struct Method {
    signature: Signature,
    cfgs: Vec<Attribute>,
    calls: Option<Attribute>,
    is_public: bool,
}

impl Method {
    /// Takes the attribute `#[calls]` away.
    fn take(attributes: &mut Vec<Attribute>, signature: &Signature, is_public: bool) -> Method {
        let place = attributes.iter().position(|attribute| attribute.path().is_ident("calls"));
        let calls = place.map(|place| attributes.remove(place));
        let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
        Method { signature: signature.clone(), cfgs, calls, is_public }
    }
}

/// A method that is called.
struct Callable {
    signature: Signature,
    cfgs: Vec<Attribute>,
    is_mutable: bool,
    parameters: Vec<(String, Type)>,
    /// The arguments of each call.
    calls: Vec<Vec<Expr>>,
}

impl Callable {
    /// `None` if the method is left out.
    fn new(method: Method, lock: Option<&Path>) -> Result<Option<Callable>> {
        let Method { signature, cfgs, calls, is_public } = method;
        let name = plain(&signature.ident);
        let Some(receiver) = signature.receiver() else {
            let message = format!("`{name}` has no receiver, so it is not a call on an object");
            return calls.map_or(Ok(None), |calls| Err(Error::new_spanned(calls, message)));
        };
        let lists = calls.as_ref().map(lists).transpose()?;
        if !is_public && calls.is_none() || matches!(lists, Some(Lists::Skip)) {
            return Ok(None);
        }
        let mut errors = None;
        let out = "leave it out with `#[calls(skip)]`";
        let is_mutable = match &receiver.kind {
            ReceiverKind::Reference(_, _, mutable) => mutable.is_some(),
            ReceiverKind::Typed(_, of_type) => match &**of_type {
                Type::Reference(reference) => reference.mutability.is_some(),
                _ => {
                    let message = format!(
                        "`{name}` must borrow the object, because other threads use it: take `&self`, or {out}"
                    );
                    combine(&mut errors, Error::new_spanned(receiver, message));
                    false
                }
            },
            _ => {
                let message = format!("`{name}` consumes the object, but other threads use it: take `&self`, or {out}");
                combine(&mut errors, Error::new_spanned(receiver, message));
                false
            }
        };
        if is_mutable && lock.is_none() {
            let message = format!(
                "`{name}` takes `&mut self`, but threads share the object: name a lock, such as `#[object(lock = std::sync::Mutex)]`"
            );
            combine(&mut errors, Error::new_spanned(receiver, message));
        }
        if let Some(asyncness) = &signature.asyncness {
            let message = format!(
                "`{name}` is async, which is unsupported: a call is recorded from its beginning to its return on one \
                 thread; describe a type whose methods wait for it, as with `block_on` of your runtime, or {out}"
            );
            combine(&mut errors, Error::new_spanned(asyncness, message));
        }
        if let Safety::Unsafe(token) = &signature.safety {
            let message = format!("`{name}` is unsafe, and arbitrary orders of calls may break its contract; {out}");
            combine(&mut errors, Error::new_spanned(token, message));
        }
        if let Some(parameter) = signature.generics.params.iter().find(|it| !matches!(it, GenericParam::Lifetime(_))) {
            let message = format!(
                "`{name}` is generic, and a trace holds values of one type: write a method that chooses it, or {out}"
            );
            combine(&mut errors, Error::new_spanned(parameter, message));
        }
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            let FnArg::Typed(input) = input else { continue };
            if let Some(error) = unsupported(&input.ty, "argument") {
                combine(&mut errors, error);
            }
            match &*input.pat {
                Pat::Ident(pattern) => parameters.push((plain(&pattern.ident), (*input.ty).clone())),
                pattern => {
                    combine(
                        &mut errors,
                        Error::new_spanned(pattern, "arguments have names in a trace: name this parameter"),
                    );
                }
            }
        }
        if let ReturnType::Type(_, result) = &signature.output {
            if let Some(error) = unsupported(result, "result") {
                combine(&mut errors, error);
            }
            if lock.is_some() && borrows(result.to_token_stream()) {
                let message = format!(
                    "`{name}` returns a borrow, but the object is locked only during the call: return an owned value"
                );
                combine(&mut errors, Error::new_spanned(result, message));
            }
        }
        let calls = match lists {
            Some(Lists::Skip) => Vec::new(),
            Some(Lists::Arguments(lists)) => {
                let calls = lists.into_iter().map(|arguments| split(&name, arguments, parameters.len()));
                calls.filter_map(|call| call.map_err(|error| combine(&mut errors, error)).ok()).collect()
            }
            None if parameters.is_empty() => vec![Vec::new()],
            None => {
                let message = format!("`{name}` has parameters: list arguments with `#[calls(...)]`, or {out}");
                combine(&mut errors, Error::new(signature.ident.span(), message));
                Vec::new()
            }
        };
        errors.map_or(Ok(Some(Callable { signature, cfgs, is_mutable, parameters, calls })), Err)
    }
}

/// The content of `#[calls(...)]`.
enum Lists {
    Skip,
    Arguments(Vec<Expr>),
}

fn lists(attribute: &Attribute) -> Result<Lists> {
    let list = attribute.meta.require_list()?;
    let expressions = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(list.tokens.clone())?;
    if expressions.is_empty() {
        return Err(Error::new_spanned(attribute, "no calls listed: list arguments, or write `#[calls(skip)]`"));
    }
    let is_skip = |expression: &Expr| matches!(expression, Expr::Path(path) if path.path.is_ident("skip"));
    match expressions.len() == 1 && is_skip(&expressions[0]) {
        true => Ok(Lists::Skip),
        false => Ok(Lists::Arguments(expressions.into_iter().collect())),
    }
}

/// The arguments of one call.
fn split(method: &str, arguments: Expr, parameters: usize) -> Result<Vec<Expr>> {
    match (arguments, parameters) {
        (arguments, 0) => {
            let message = format!("`{method}` has no parameters, so it is one call without `#[calls]`");
            Err(Error::new_spanned(arguments, message))
        }
        (arguments, 1) => Ok(vec![arguments]),
        (Expr::Tuple(tuple), count) if tuple.elems.len() == count => Ok(tuple.elems.into_iter().collect()),
        (arguments, count) => {
            let message =
                format!("`{method}` has {count} parameters: expected a tuple of {count} arguments for each call");
            Err(Error::new_spanned(arguments, message))
        }
    }
}

/// The error for a type whose values cannot be recorded, as far as the type alone shows it.
fn unsupported(of_type: &Type, what: &str) -> Option<Error> {
    let message = match of_type {
        Type::ImplTrait(_) if what == "argument" => "`impl Trait` makes the method generic: name the type".to_owned(),
        Type::ImplTrait(_) => "a result of a type without a name cannot be recorded: name the type".to_owned(),
        Type::Ptr(_) => format!("a pointer as {what} says nothing in a trace: its value differs each time"),
        Type::FnPtr(_) => format!("a function as {what} says nothing in a trace: its address differs each time"),
        Type::Never(_) => "a call that never returns has no result to record".to_owned(),
        Type::Reference(reference) if reference.mutability.is_some() => {
            format!("`&mut` as {what} cannot be recorded: its value changes")
        }
        Type::Reference(reference) => return unsupported(&reference.elem, what),
        Type::Paren(inner) => return unsupported(&inner.elem, what),
        Type::Slice(slice) => return unsupported(&slice.elem, what),
        Type::Array(array) => return unsupported(&array.elem, what),
        Type::Tuple(tuple) => return tuple.elems.iter().find_map(|element| unsupported(element, what)),
        Type::Path(path) => {
            let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
            return arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => unsupported(inner, what),
                _ => None,
            });
        }
        _ => return None,
    };
    Some(Error::new_spanned(of_type, message))
}

/// True if a type contains a reference or a lifetime other than `'static`.
fn borrows(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |place: usize, sign: char| matches!(&tokens[place], TokenTree::Punct(punct) if punct.as_char() == sign);
    let is_static = |place: usize| matches!(tokens.get(place), Some(TokenTree::Ident(name)) if name == "static");
    (0..tokens.len()).any(|place| match &tokens[place] {
        TokenTree::Group(group) => borrows(group.stream()),
        _ if is(place, '&') => !is_static(place + 2),
        _ if is(place, '\'') => !is_static(place + 1),
        _ => false,
    })
}

/// The object on which a block makes its calls.
struct Target<'a> {
    object: TokenStream, // Its type.
    owner: TokenStream,  // The type that has the methods, qualified.
    lock: Option<&'a Path>,
    replacements: Vec<Replacement>,
    root: &'a TokenStream,
}

impl Target<'_> {
    /// The statements that list all calls.
    fn calls(&self, methods: Vec<Method>, span: Span) -> Result<TokenStream> {
        let mut errors = None;
        let mut statements = TokenStream::new();
        for method in methods {
            match Callable::new(method, self.lock) {
                Ok(None) => {}
                Ok(Some(method)) => match self.method(&method) {
                    Ok(method) => statements.extend(method),
                    Err(error) => combine(&mut errors, error),
                },
                Err(error) => combine(&mut errors, error),
            }
        }
        match errors {
            Some(errors) => Err(errors),
            None if statements.is_empty() => Err(Error::new(
                span,
                "no calls: a call is a public method that takes `&self`, or one with `#[calls(...)]`",
            )),
            None => Ok(statements),
        }
    }

    fn method(&self, method: &Callable) -> Result<TokenStream> {
        let Callable { signature, cfgs, is_mutable, parameters, calls } = method;
        let concrete = |of_type: &Type| syn::parse2::<Type>(replace(of_type.to_token_stream(), &self.replacements));
        let types = parameters.iter().map(|(_, of_type)| concrete(of_type)).collect::<Result<Vec<Type>>>()?;
        let (root, owner, ident) = (self.root, &self.owner, &signature.ident);
        let (shared, name) = (self.shared(), plain(ident));
        let names = parameters.iter().map(|(name, _)| name);
        let result = match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, of_type) => Some(concrete(of_type)?).filter(|of_type| !is_unit(of_type)),
        };
        let results = result.iter().map(|_| "result");
        let here = Span::mixed_site(); // So that arguments cannot name what is defined here.
        let arguments: Vec<Ident> =
            (0..parameters.len()).map(|place| Ident::new(&format!("argument_{place}"), here)).collect();
        let values: Vec<TokenStream> =
            types.iter().zip(&arguments).map(|(of_type, name)| self.value(of_type, &quote!(&#name))).collect();
        let receiver = match (self.lock, is_mutable) {
            (None, _) => quote_spanned!(here=> object),
            (Some(_), true) => quote_spanned!(here=> &mut *guard),
            (Some(_), false) => quote_spanned!(here=> &*guard),
        };
        let lock = self.lock.map(|_| {
            quote_spanned!(here=> #[allow(unused_mut)] let mut guard = #root::object::Locked(object.lock()).guard();)
        });
        let unlock = self.lock.map(|_| quote_spanned!(here=> ::core::mem::drop(guard);));
        let invoke = quote_spanned!(here=> #owner::#ident(#receiver #(, #arguments)*));
        let finish = match &result {
            None => quote_spanned!(here=> #invoke; #unlock call.done(());),
            Some(of_type) => {
                let value = self.value(of_type, &quote_spanned!(here=> &result));
                quote_spanned!(here=> let result = #invoke; #unlock call.done((#value,));)
            }
        };
        let calls = calls.iter().map(|call| {
            let bindings = types.iter().zip(&arguments).zip(call).map(|((of_type, name), expression)| {
                let expression = replace(expression.to_token_stream(), &self.replacements);
                quote!(let #name: #of_type = #expression;)
            });
            let bindings: TokenStream = bindings.collect();
            quote_spanned! {here=>
                calls.push(#root::object::Call::new(
                    {
                        #bindings
                        #root::object::text(#name, &[#(#values),*])
                    },
                    |object: &#shared, process: &mut #root::Process| {
                        #bindings
                        let call = process.call(&OMNILINK_ACTION, (#(#values,)*));
                        #lock
                        #finish
                    },
                ));
            }
        });
        Ok(quote_spanned! {here=>
            #(#cfgs)*
            {
                static OMNILINK_ACTION: #root::Action = #root::Action::new(#name, &[#(#names),*], &[#(#results),*]);
                #(#calls)*
            }
        })
    }

    /// The expression for the recorded value of a reference to this type.
    fn value(&self, of_type: &Type, reference: &TokenStream) -> TokenStream {
        let value = quote_spanned!(Span::mixed_site()=> value);
        let root = self.root;
        let each = |element: &Type| {
            let inner = self.value(element, &value);
            quote_spanned!(Span::mixed_site()=> #root::object::Value::List((#reference).iter().map(|value| #inner).collect()))
        };
        match of_type {
            Type::Paren(inner) => return self.value(&inner.elem, reference),
            Type::Slice(slice) => return each(&slice.elem),
            Type::Array(array) => return each(&array.elem),
            Type::Reference(outer) if matches!(&*outer.elem, Type::Slice(_)) || last(&outer.elem, "str").is_some() => {
                return self.value(&outer.elem, reference);
            }
            Type::Tuple(tuple) => {
                let names: Vec<Ident> = (0..tuple.elems.len())
                    .map(|place| Ident::new(&format!("element_{place}"), Span::mixed_site()))
                    .collect();
                let inner = tuple.elems.iter().zip(&names).map(|(element, name)| self.value(element, &quote!(#name)));
                return quote! {
                    match #reference { (#(#names,)*) => #root::object::Value::List(::std::vec![#(#inner),*]) }
                };
            }
            _ => {}
        }
        if last(of_type, "str").or(last(of_type, "String")).is_some() {
            return quote!(#root::object::Value::Str(#reference));
        }
        let generic = |name: &str| last(of_type, name).filter(|arguments| !arguments.is_empty());
        if let Some(arguments) = generic("Option") {
            let some = self.value(arguments[0], &value);
            return quote_spanned! {Span::mixed_site()=>
                match #reference {
                    ::core::option::Option::Some(value) => #some,
                    ::core::option::Option::None => #root::object::Value::Nil,
                }
            };
        }
        if let Some(arguments) = generic("Vec") {
            return each(arguments[0]);
        }
        if let Some(arguments) = last(of_type, "Result") {
            // Aliases have fewer arguments; then the compiler chooses.
            let part = |place: usize| {
                arguments.get(place).map_or_else(|| self.chosen(&value, of_type), |it| self.value(it, &value))
            };
            let (ok, err) = (part(0), part(1));
            return quote_spanned! {Span::mixed_site()=>
                match #reference {
                    ::core::result::Result::Ok(value) => #root::object::Value::Ok(::std::boxed::Box::new(#ok)),
                    ::core::result::Result::Err(value) => #root::object::Value::Err(::std::boxed::Box::new(#err)),
                }
            };
        }
        self.chosen(reference, of_type)
    }

    /// The value that the compiler chooses by traits. An error is shown at the type.
    fn chosen(&self, reference: &TokenStream, of_type: &Type) -> TokenStream {
        let root = self.root;
        let method = Ident::new("value", of_type.span());
        quote_spanned!(of_type.span()=> (&#root::object::Plain(#reference)).#method())
    }

    fn shared(&self) -> TokenStream {
        let object = &self.object;
        self.lock.map_or(object.clone(), |lock| quote!(#lock<#object>))
    }

    /// `Describe` for a type that holds the object at `place`.
    fn implementation(
        &self,
        generics: &TokenStream,
        of_type: &TokenStream,
        place: &TokenStream,
        calls: &TokenStream,
    ) -> TokenStream {
        let (root, shared) = (self.root, self.shared());
        let shared_place = self.lock.map_or(place.clone(), |lock| quote!(#lock::new(#place)));
        let list = Ident::new("calls", Span::mixed_site());
        quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #root::object::{AsEncoded as _, AsGuard as _, AsOpaque as _};

                #[automatically_derived]
                impl #generics #root::object::Describe for #of_type {
                    type Shared = #shared;

                    fn share(self) -> Self::Shared {
                        #shared_place
                    }

                    #[allow(clippy::all)]
                    fn calls() -> ::std::vec::Vec<#root::object::Call<Self::Shared>> {
                        let mut #list = ::std::vec::Vec::new();
                        #calls
                        #list
                    }
                }
            };
        }
    }
}

/// The type arguments of a path whose last segment is this.
fn last<'a>(of_type: &'a Type, name: &str) -> Option<Vec<&'a Type>> {
    let Type::Path(path) = of_type else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == name)?;
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(of_type) => Some(of_type),
                _ => None,
            });
            Some(types.collect())
        }
        _ => Some(Vec::new()),
    }
}

fn is_unit(of_type: &Type) -> bool {
    matches!(of_type, Type::Tuple(tuple) if tuple.elems.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors for an item.
    fn check(arguments: &str, item: &str) -> String {
        let item: TokenStream = item.parse().unwrap();
        let described = syn::parse_str(arguments).and_then(|arguments| {
            match (syn::parse2::<ItemImpl>(item.clone()), syn::parse2::<ItemTrait>(item.clone())) {
                (Ok(mut block), _) => describe_block(&arguments, &mut block, &quote!(root)),
                (_, Ok(mut definition)) => describe_trait(&arguments, &mut definition, &quote!(root)),
                _ => expand(&arguments, item, &quote!(root)),
            }
        });
        match described {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The errors for one public method.
    fn check_method(arguments: &str, method: &str) -> String {
        check(arguments, &format!("impl Queue {{ {method} }}"))
    }

    #[test]
    fn items_that_cannot_be_described_are_explained() {
        insta::assert_snapshot!(check("", "struct Queue;"), @"expected an `impl` block or a trait: its methods are the calls");
        insta::assert_snapshot!(check("", "impl Queue { pub fn new() -> Queue {} fn hidden(&self) {} }"), @"no calls: a call is a public method that takes `&self`, or one with `#[calls(...)]`");
        insta::assert_snapshot!(check("", "impl<K, V, const N: usize> Map<K, V, N> { pub fn len(&self) -> usize {} }"), @"
        calls are made on an object of one type: choose `K`, such as `#[object(K = i64)]`
        calls are made on an object of one type: choose `V`, such as `#[object(V = i64)]`
        calls are made on an object of one type: choose `N`, such as `#[object(N = 4)]`
        ");
        insta::assert_snapshot!(check("T = i64", "impl Queue { pub fn len(&self) -> usize {} }"), @"unrecognized argument `T` (expected lock, or a parameter of the `impl` block)");
        insta::assert_snapshot!(check("", "impl<'a> Queue<'a> { pub fn len(&self) -> usize {} }"), @"an object is made anew for each execution and cannot borrow: use `'static` here");
        insta::assert_snapshot!(check("", "trait Queue<T> { fn pop(&self) -> T; }"), @"a generic trait has no type for its parameters: describe an `impl` of it instead");
        insta::assert_snapshot!(check("T = i64", "trait Queue { fn pop(&self) -> i64; }"), @"unrecognized argument `T` (expected lock, or a parameter of the `impl` block)");
        assert_eq!(check("K = u8, N = 4", "impl<K, const N: usize> Map<K, N> { pub fn len(&self) -> K {} }"), "fine");
        assert_eq!(check("", "impl Queue for Mine { fn len(&self) -> usize {} }"), "fine");
        assert_eq!(
            check("lock = std::sync::Mutex", "trait Queue { fn pop(&mut self) -> i64; fn new() -> Self; }"),
            "fine"
        );
    }

    /// An error of ours is the only one: the type is described, without calls.
    #[test]
    fn items_with_errors_are_described_too() {
        let check = |arguments: &str, item: &str, head: &str| {
            let arguments = syn::parse_str(arguments).unwrap();
            let expanded = expand(&arguments, item.parse().unwrap(), &quote!(root)).unwrap();
            let file: syn::File = syn::parse2(expanded.clone()).unwrap();
            let is_macro = |item: &syn::Item| matches!(item, syn::Item::Macro(_));
            assert!(file.items.iter().any(is_macro) && expanded.to_string().contains("compile_error"), "{expanded}");
            assert!(expanded.to_string().contains(head), "{expanded}");
        };
        let queue = "impl root :: object :: Describe for Queue {";
        check("", "impl Queue { pub async fn pop(&self) {} }", queue);
        check("", "impl Queue { pub fn pop(&mut self) {} pub fn len(&self) {} }", queue);
        check(
            "K = u8",
            "impl<K> Map<K> { pub async fn len(&self) {} }",
            "impl root :: object :: Describe for Map < u8 > {",
        );
        check("", "impl<K> Map<K> { pub fn len(&self) {} }", "impl < K > root :: object :: Describe for Map < K > {");
        let holder = "impl < T > root :: object :: Describe for QueueObject < T > {";
        check("", "trait Queue<T> { fn pop(&self) -> T; }", holder);
    }

    #[test]
    fn methods_that_cannot_be_called_are_explained() {
        insta::assert_snapshot!(check_method("", "pub fn pop(&mut self) -> i64 {}"), @"`pop` takes `&mut self`, but threads share the object: name a lock, such as `#[object(lock = std::sync::Mutex)]`");
        insta::assert_snapshot!(check_method("", "pub fn close(self) {}"), @"`close` consumes the object, but other threads use it: take `&self`, or leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "pub fn close(self: Arc<Self>) {}"), @"`close` must borrow the object, because other threads use it: take `&self`, or leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "pub async fn pop(&self) {}"), @"`pop` is async, which is unsupported: a call is recorded from its beginning to its return on one thread; describe a type whose methods wait for it, as with `block_on` of your runtime, or leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "pub unsafe fn pop(&self) {}"), @"`pop` is unsafe, and arbitrary orders of calls may break its contract; leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "#[calls(1)] pub fn push<T: Into<i64>>(&self, item: T) {}"), @"`push` is generic, and a trace holds values of one type: write a method that chooses it, or leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "#[calls(1)] fn new(item: i64) {}"), @"`new` has no receiver, so it is not a call on an object");
        assert_eq!(check_method("lock = Mutex", "pub fn pop(self: &mut Self) -> i64 {}"), "fine");
        assert_eq!(check_method("", "pub fn len(&self) -> usize {} #[calls(skip)] pub fn close(self) {}"), "fine");
    }

    #[test]
    fn wrong_lists_of_arguments_are_explained() {
        insta::assert_snapshot!(check_method("", "pub fn push(&self, item: i64) {}"), @"`push` has parameters: list arguments with `#[calls(...)]`, or leave it out with `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "#[calls()] pub fn push(&self, item: i64) {}"), @"no calls listed: list arguments, or write `#[calls(skip)]`");
        insta::assert_snapshot!(check_method("", "#[calls] pub fn push(&self, item: i64) {}"), @"expected attribute arguments in parentheses: `calls(...)`");
        insta::assert_snapshot!(check_method("", "#[calls(1)] pub fn pop(&self) {}"), @"`pop` has no parameters, so it is one call without `#[calls]`");
        insta::assert_snapshot!(check_method("", "#[calls((1, 2), 3, (4, 5, 6))] pub fn put(&self, key: i64, value: i64) {}"), @"
        `put` has 2 parameters: expected a tuple of 2 arguments for each call
        `put` has 2 parameters: expected a tuple of 2 arguments for each call
        ");
        assert_eq!(check_method("", "#[calls((1, 2))] fn push(&self, pair: (i64, i64)) {}"), "fine");
    }

    #[test]
    fn values_that_cannot_be_recorded_are_explained() {
        insta::assert_snapshot!(check_method("", "#[calls((0, 0, 0))] pub fn f(&self, a: impl Into<u8>, b: &mut u8, _: u8) {}"), @"
        `impl Trait` makes the method generic: name the type
        `&mut` as argument cannot be recorded: its value changes
        arguments have names in a trace: name this parameter
        `f` has 2 parameters: expected a tuple of 2 arguments for each call
        ");
        insta::assert_snapshot!(check_method("", "pub fn f(&self) -> (u8, impl Iterator<Item = u8>) {}"), @"a result of a type without a name cannot be recorded: name the type");
        insta::assert_snapshot!(check_method("", "pub fn f(&self) -> Option<*const u8> {}"), @"a pointer as result says nothing in a trace: its value differs each time");
        insta::assert_snapshot!(check_method("", "pub fn f(&self) -> fn() {}"), @"a function as result says nothing in a trace: its address differs each time");
        insta::assert_snapshot!(check_method("", "pub fn f(&self) -> ! {}"), @"a call that never returns has no result to record");
        insta::assert_snapshot!(check_method("lock = Mutex", "pub fn f(&self) -> Option<&str> {}"), @"`f` returns a borrow, but the object is locked only during the call: return an owned value");
        assert_eq!(check_method("lock = Mutex", "pub fn f(&self) -> Option<&'static str> {}"), "fine");
        assert_eq!(
            check_method("", "pub fn f<'a>(&'a self) -> Result<&'a [u8], (String, Vec<Cow<'a, str>>)> {}"),
            "fine"
        );
    }

    #[test]
    fn names_and_lifetimes_are_replaced() {
        let alone = |name: &str, alone: TokenStream| {
            let qualified = quote!(<#alone>);
            Replacement { name: name.into(), alone, qualified }
        };
        let replacements = [alone("T", quote!(Vec<i64>)), alone("Self", quote!(Queue))];
        let check = |text: &str| replace(text.parse().unwrap(), &replacements).to_string().replace(' ', "");
        assert_eq!(check("Option<(T,&'a Self,a::T,T::Item)>"), "Option<(Vec<i64>,&'_Queue,a::T,<Vec<i64>>::Item)>");
        assert_eq!(check("&'static T"), "&'staticVec<i64>");
    }
}
