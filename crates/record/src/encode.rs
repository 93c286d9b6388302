//! Values that can be recorded, in the encoding of the trace format.
//!
//! A value is written straight into the segment, in the shortest encoding of the format. [`Encode`] passes an
//! [`Encoder`] by value and requires a proof, [`Encoded`], in return; so an implementation writes exactly one value,
//! and cannot damage the record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::segment::Cursor;

/// The maximum nesting depth of a value.
const MAX_DEPTH: usize = 32;

/// A value that can be recorded.
///
/// ```
/// use omnilink_record::{Encode, Encoded, Encoder};
///
/// struct Key(u32);
///
/// impl Encode for Key {
///     fn encode(&self, encoder: Encoder<'_>) -> Encoded {
///         encoder.int(i64::from(self.0))
///     }
/// }
/// ```
pub trait Encode {
    /// Writes the value.
    fn encode(&self, encoder: Encoder<'_>) -> Encoded;
}

/// The arguments or the results of a call: a tuple of values, or a slice of values of one type.
pub trait Values {
    /// Writes each value.
    #[doc(hidden)]
    fn write(&self, list: &mut List<'_>);
}

/// Writes one value.
#[derive(Debug)]
pub struct Encoder<'a> {
    cursor: &'a mut Cursor,
    depth: usize,
}

/// The proof that a value was written.
#[derive(Debug)]
pub struct Encoded(());

/// The destination of the values of a list.
#[doc(hidden)]
#[derive(Debug)]
pub struct List<'a> {
    cursor: &'a mut Cursor,
    depth: usize,
    written: usize,
}

impl<'a> Encoder<'a> {
    #[inline(always)]
    pub(crate) fn new(cursor: &'a mut Cursor) -> Encoder<'a> {
        Encoder { cursor, depth: 0 }
    }

    /// No value.
    pub fn nil(self) -> Encoded {
        self.tag(0)
    }

    /// A truth value.
    #[inline(always)]
    pub fn bool(self, value: bool) -> Encoded {
        self.tag(1 + u8::from(value))
    }

    /// An integer.
    #[inline(always)]
    pub fn int(self, value: i64) -> Encoded {
        if (-16..=175).contains(&value) {
            self.tag((0x50 + value) as u8)
        } else {
            self.cursor.tagged(3, zigzag(value));
            Encoded(())
        }
    }

    /// An integer of any size, by its digits in base 10, after an optional `-`.
    ///
    /// # Panics
    ///
    /// If the text is anything else.
    pub fn integer(self, digits: &str) -> Encoded {
        if let Ok(value) = digits.parse() {
            return self.int(value);
        }
        let unsigned = digits.strip_prefix('-').unwrap_or(digits);
        let are_digits = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
        assert!(are_digits, "`{digits}` cannot be recorded: it is not an integer");
        self.cursor.tagged(9, digits.len() as u64);
        self.cursor.bytes(digits.as_bytes());
        Encoded(())
    }

    /// A number.
    ///
    /// # Panics
    ///
    /// If it is not finite: the trace format cannot express that.
    pub fn float(self, value: f64) -> Encoded {
        assert!(value.is_finite(), "`{value}` cannot be recorded: only finite numbers can");
        self.cursor.byte(4);
        self.cursor.bytes(&value.to_le_bytes());
        Encoded(())
    }

    /// A string.
    #[inline]
    pub fn str(self, value: &str) -> Encoded {
        if value.len() < 32 {
            self.cursor.byte(0x20 + value.len() as u8);
        } else {
            self.cursor.tagged(5, value.len() as u64);
        }
        self.cursor.bytes(value.as_bytes());
        Encoded(())
    }

    /// A tuple or sequence.
    pub fn tuple<T: Encode>(self, elements: impl ExactSizeIterator<Item = T>) -> Encoded {
        self.list(6, elements, |list, element| list.add(&element))
    }

    /// A set. Its elements may come in any order.
    pub fn set<T: Encode>(self, elements: impl ExactSizeIterator<Item = T>) -> Encoded {
        self.list(7, elements, |list, element| list.add(&element))
    }

    /// A function, as pairs of argument and result. No argument may occur twice. With strings as arguments it is a
    /// record.
    pub fn function<K: Encode, V: Encode>(self, pairs: impl ExactSizeIterator<Item = (K, V)>) -> Encoded {
        self.list(8, pairs, |list, (argument, result)| {
            list.add(&argument);
            list.add(&result);
        })
    }

    #[inline(always)]
    fn tag(self, tag: u8) -> Encoded {
        self.cursor.byte(tag);
        Encoded(())
    }

    /// A tag, a count, and the elements as written by `add`.
    fn list<T>(
        self,
        tag: u8,
        elements: impl ExactSizeIterator<Item = T>,
        mut add: impl FnMut(&mut List<'_>, T),
    ) -> Encoded {
        assert!(self.depth < MAX_DEPTH, "a value that nests deeper than {MAX_DEPTH} cannot be recorded");
        let (count, mut seen) = (elements.len(), 0);
        self.cursor.tagged(tag, count as u64);
        let mut list = List { cursor: self.cursor, depth: self.depth + 1, written: 0 };
        for element in elements {
            add(&mut list, element);
            seen += 1;
        }
        assert_eq!(seen, count, "an iterator has as many elements as it says");
        Encoded(())
    }
}

impl<'a> List<'a> {
    #[inline(always)]
    fn add<T: Encode + ?Sized>(&mut self, value: &T) {
        value.encode(Encoder { cursor: self.cursor, depth: self.depth });
        self.written += 1;
    }

    /// Writes values without a count, because their action determines it. Returns the number written.
    #[inline(always)]
    pub(crate) fn of<V: Values + ?Sized>(cursor: &'a mut Cursor, values: &V) -> usize {
        let mut list = List { cursor, depth: 0, written: 0 };
        values.write(&mut list);
        list.written
    }
}

/// Maps signed integers to unsigned ones, small magnitudes first.
#[inline(always)]
pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Encode for $type {
            #[inline(always)]
            fn encode(&self, encoder: Encoder<'_>) -> Encoded {
                encoder.int(i64::from(*self))
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32);

macro_rules! large_integers {
    ($($type:ty)*) => {$(
        impl Encode for $type {
            #[inline(always)]
            fn encode(&self, encoder: Encoder<'_>) -> Encoded {
                match i64::try_from(*self) {
                    Ok(value) => encoder.int(value),
                    Err(_) => large(encoder, &self.to_string()),
                }
            }
        }
    )*};
}

large_integers!(u64 usize isize u128 i128);

#[cold]
fn large(encoder: Encoder<'_>, digits: &str) -> Encoded {
    encoder.integer(digits)
}

macro_rules! simple {
    ($($type:ty: $value:ident, $encoder:ident => $body:expr;)*) => {$(
        impl Encode for $type {
            #[inline]
            fn encode(&self, $encoder: Encoder<'_>) -> Encoded {
                let $value = self;
                $body
            }
        }
    )*};
}

simple! {
    bool: value, encoder => encoder.bool(*value);
    f32: value, encoder => encoder.float(f64::from(*value));
    f64: value, encoder => encoder.float(*value);
    char: value, encoder => encoder.str(value.encode_utf8(&mut [0; 4]));
    str: value, encoder => encoder.str(value);
    String: value, encoder => encoder.str(value);
    Cow<'_, str>: value, encoder => encoder.str(value);
}

/// `None` is nil.
impl<T: Encode> Encode for Option<T> {
    #[inline]
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        match self {
            Some(value) => value.encode(encoder),
            None => encoder.nil(),
        }
    }
}

/// A record with the one field `ok` or `err`.
impl<T: Encode, E: Encode> Encode for Result<T, E> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        match self {
            Ok(value) => encoder.function(std::iter::once(("ok", value))),
            Err(error) => encoder.function(std::iter::once(("err", error))),
        }
    }
}

/// The tuple without elements.
impl Encode for () {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.tuple([(); 0].iter())
    }
}

macro_rules! pointers {
    ($($type:ty)*) => {$(
        impl<T: Encode + ?Sized> Encode for $type {
            #[inline(always)]
            fn encode(&self, encoder: Encoder<'_>) -> Encoded {
                (**self).encode(encoder)
            }
        }
    )*};
}

pointers!(&T &mut T Box<T> Rc<T> Arc<T>);

impl<T: Encode> Encode for [T] {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.tuple(self.iter())
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.tuple(self.iter())
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.tuple(self.iter())
    }
}

impl<T: Encode> Encode for VecDeque<T> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.tuple(self.iter())
    }
}

impl<T: Encode> Encode for BTreeSet<T> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.set(self.iter())
    }
}

impl<T: Encode, S> Encode for HashSet<T, S> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.set(self.iter())
    }
}

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.function(self.iter())
    }
}

impl<K: Encode, V: Encode, S> Encode for HashMap<K, V, S> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        encoder.function(self.iter())
    }
}

impl Values for () {
    #[inline(always)]
    fn write(&self, _: &mut List<'_>) {}
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $place:tt)*;)*) => {$(
        impl<$($name: Encode),*> Encode for ($($name,)*) {
            fn encode(&self, encoder: Encoder<'_>) -> Encoded {
                let values: [&dyn Encode; $count] = [$(&self.$place),*];
                encoder.tuple(values.iter())
            }
        }

        impl<$($name: Encode),*> Values for ($($name,)*) {
            #[inline(always)]
            fn write(&self, list: &mut List<'_>) {
                $(list.add(&self.$place);)*
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
    7: A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}

impl<T: Encode> Values for &[T] {
    fn write(&self, list: &mut List<'_>) {
        self.iter().for_each(|value| list.add(value));
    }
}
