//! Reads single values from columns of any type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, StringArray};
use arrow_array::{StringViewArray, StructArray, UInt64Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use omnilink_history::Value;
use thiserror::Error;

/// The reason why a column cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column `{column}`: {message}")]
pub struct BadColumn {
    /// The column.
    pub column: String,
    /// The error.
    pub message: String,
}

impl BadColumn {
    /// Makes an error in a column.
    pub fn new(column: &str, message: impl Into<String>) -> BadColumn {
        BadColumn { column: column.to_owned(), message: message.into() }
    }

    fn of_type(column: &str, array: &ArrayRef, expected: &str) -> BadColumn {
        BadColumn::new(column, format!("is of type {}, not {expected}", array.data_type()))
    }
}

/// A column cast to a type.
fn cast(column: &str, array: &ArrayRef, to: &DataType, expected: &str) -> Result<ArrayRef, BadColumn> {
    let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
    arrow_cast::cast_with_options(array, to, &options).map_err(|_| BadColumn::of_type(column, array, expected))
}

/// A column of strings.
#[derive(Clone, Debug)]
pub struct Text(Strings);

#[derive(Clone, Debug)]
enum Strings {
    Short(StringArray),
    Long(LargeStringArray),
    View(StringViewArray),
}

impl Text {
    /// The strings of a column. Integers and dictionaries count as strings too.
    pub fn of(column: &str, array: &ArrayRef) -> Result<Text, BadColumn> {
        Ok(Text(match array.data_type() {
            DataType::Utf8 => Strings::Short(array.as_string().clone()),
            DataType::LargeUtf8 => Strings::Long(array.as_string().clone()),
            DataType::Utf8View => Strings::View(array.as_string_view().clone()),
            kind if kind.is_integer() || matches!(kind, DataType::Dictionary(..) | DataType::Null) => {
                Strings::Short(cast(column, array, &DataType::Utf8, "text")?.as_string().clone())
            }
            _ => return Err(BadColumn::of_type(column, array, "text")),
        }))
    }

    /// The string in a row, unless it is null.
    #[inline]
    pub fn at(&self, row: usize) -> Option<&str> {
        match &self.0 {
            Strings::Short(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Long(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// A column of times.
#[derive(Clone, Debug)]
pub(crate) enum Times {
    Signed(Int64Array),
    Unsigned(UInt64Array),
}

impl Times {
    /// Timestamps count in their own unit.
    pub(crate) fn of(column: &str, array: &ArrayRef) -> Result<Times, BadColumn> {
        Ok(match array.data_type() {
            DataType::UInt64 => Times::Unsigned(array.as_primitive::<UInt64Type>().clone()),
            kind if kind.is_integer() || matches!(kind, DataType::Timestamp(..) | DataType::Null) => {
                let array = cast(column, array, &DataType::Int64, "integers")?;
                Times::Signed(array.as_primitive::<Int64Type>().clone())
            }
            DataType::Decimal128(_, 0) => {
                let array = cast(column, array, &DataType::UInt64, "integers")?;
                Times::Unsigned(array.as_primitive::<UInt64Type>().clone())
            }
            _ => return Err(BadColumn::of_type(column, array, "integers or timestamps")),
        })
    }

    #[inline]
    pub(crate) fn at(&self, row: usize) -> Result<Option<u64>, i64> {
        match self {
            Times::Signed(array) if array.is_valid(row) => {
                let time = array.value(row);
                u64::try_from(time).map(Some).map_err(|_| time)
            }
            Times::Unsigned(array) if array.is_valid(row) => Ok(Some(array.value(row))),
            _ => Ok(None),
        }
    }
}

/// A column of keys.
#[derive(Clone, Debug)]
pub enum Keys {
    /// Integers.
    Int(Int64Array),
    /// Anything else, as text.
    Text(Text),
}

/// The key of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// It has none.
    None,
    /// An integer.
    Int(i64),
    /// Anything else, as text.
    Text(String),
}

impl Keys {
    /// The keys of a column.
    pub fn of(column: &str, array: &ArrayRef) -> Result<Keys, BadColumn> {
        Ok(match array.data_type() {
            kind if kind.is_integer() && *kind != DataType::UInt64 => {
                Keys::Int(cast(column, array, &DataType::Int64, "keys")?.as_primitive::<Int64Type>().clone())
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Keys::Text(Text::of(column, array)?),
            _ => Keys::Text(Text::of(column, &cast(column, array, &DataType::Utf8, "keys")?)?),
        })
    }

    /// The key of a row.
    pub fn at(&self, row: usize) -> Key {
        match self {
            Keys::Int(array) if array.is_valid(row) => Key::Int(array.value(row)),
            Keys::Int(_) => Key::None,
            Keys::Text(text) => text.at(row).map_or(Key::None, |text| Key::Text(text.to_owned())),
        }
    }

    /// True if the row has this key.
    #[inline]
    pub fn is(&self, row: usize, key: &Key) -> bool {
        match (self, key) {
            (Keys::Int(array), Key::Int(key)) => array.is_valid(row) && array.value(row) == *key,
            (Keys::Text(text), Key::Text(key)) => text.at(row) == Some(key),
            (Keys::Int(array), Key::None) => array.is_null(row),
            (Keys::Text(text), Key::None) => text.at(row).is_none(),
            _ => false,
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::None => f.write_str("no key"),
            Key::Int(int) => write!(f, "{int}"),
            Key::Text(text) => f.write_str(text),
        }
    }
}

/// A column of values.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Nil,
    Bool(BooleanArray),
    Int(Int64Array),
    Big(Text),
    Float(Float64Array),
    Text(Text),
    List(OffsetBuffer<i32>, Option<NullBuffer>, Box<Values>),
    Record(Vec<(Arc<str>, Values)>, Option<NullBuffer>),
}

impl Values {
    pub(crate) fn of(column: &str, array: &ArrayRef) -> Result<Values, BadColumn> {
        Ok(match array.data_type() {
            DataType::Null => Values::Nil,
            DataType::Boolean => Values::Bool(array.as_boolean().clone()),
            DataType::UInt64 => Values::Big(Text::of(column, array)?),
            kind if kind.is_integer() => {
                Values::Int(cast(column, array, &DataType::Int64, "values")?.as_primitive::<Int64Type>().clone())
            }
            kind if kind.is_floating() => {
                let array = cast(column, array, &DataType::Float64, "values")?;
                Values::Float(array.as_primitive::<Float64Type>().clone())
            }
            DataType::Decimal128(_, 0) => {
                Values::Big(Text::of(column, &cast(column, array, &DataType::Utf8, "values")?)?)
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let inside = Values::of(column, list.values())?;
                Values::List(list.offsets().clone(), list.nulls().cloned(), Box::new(inside))
            }
            DataType::Struct(_) => {
                let (fields, nulls) = fields_of(column, array.as_struct())?;
                Values::Record(fields, nulls)
            }
            _ => Values::Text(Text::of(column, array)?),
        })
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Values::Nil => true,
            Values::Bool(array) => array.is_null(row),
            Values::Int(array) => array.is_null(row),
            Values::Float(array) => array.is_null(row),
            Values::Big(text) | Values::Text(text) => text.at(row).is_none(),
            Values::List(_, nulls, _) | Values::Record(_, nulls) => {
                nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
            }
        }
    }

    /// The value in a row. Null is `nil`; in a record it is an absent field.
    pub(crate) fn at(&self, row: usize) -> Result<Value, String> {
        if self.is_null(row) {
            return Ok(Value::Nil);
        }
        Ok(match self {
            Values::Nil => Value::Nil,
            Values::Bool(array) => Value::Bool(array.value(row)),
            Values::Int(array) => Value::Int(array.value(row)),
            Values::Big(text) => Value::integer(text.at(row).unwrap_or_default()).ok_or("not an integer")?,
            Values::Float(array) => Value::number(array.value(row)).ok_or("a number that is not finite")?,
            Values::Text(text) => Value::str(text.at(row).unwrap_or_default()),
            Values::List(offsets, _, inside) => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                Value::Tuple(range.map(|at| inside.at(at)).collect::<Result<_, _>>()?)
            }
            Values::Record(fields, _) => {
                let present = fields.iter().filter(|(_, values)| !values.is_null(row));
                let fields = present.map(|(name, values)| Ok((Value::Str(name.clone()), values.at(row)?)));
                let fields = fields.collect::<Result<Vec<_>, String>>()?;
                Value::function(fields).ok_or("a record with a name twice")?
            }
        })
    }
}

/// The fields of a structure.
pub(crate) type FieldValues = (Vec<(Arc<str>, Values)>, Option<NullBuffer>);

pub(crate) fn fields_of(column: &str, array: &StructArray) -> Result<FieldValues, BadColumn> {
    let inside = array.fields().iter().zip(array.columns());
    let fields = inside.map(|(field, array)| {
        let values = Values::of(&format!("{column}.{}", field.name()), array)?;
        Ok((Arc::from(field.name().as_str()), values))
    });
    Ok((fields.collect::<Result<_, _>>()?, array.nulls().cloned()))
}
