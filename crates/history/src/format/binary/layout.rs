//! The numbers of the format.

/// The first bytes of every segment.
pub const MAGIC: [u8; 8] = *b"\x89OMNISEG";

/// The supported version of the format.
pub const VERSION: u8 = 1;

/// The maximum length of a record's body, in bytes.
pub const MAX_BODY: usize = 1 << 24;

/// The maximum number of an action in a segment.
pub const MAX_ACTION: u64 = 0xFFFF;

/// Record kinds. Zero is not a kind, so that a page of zeros is never read as a record.
pub(super) mod kind {
    pub(crate) const ACTION: u8 = 1;
    pub(crate) const OPERATION: u8 = 2;
    pub(crate) const CALL: u8 = 3;
    pub(crate) const RETURN: u8 = 4;
    pub(crate) const FAIL: u8 = 5;
    pub(crate) const META: u8 = 6;
    pub(crate) const END: u8 = 7;
    pub(crate) const OUTCOME: u8 = 8;
    pub(crate) const UNKNOWN: u8 = 9;
    pub(crate) const BLOCKED: u8 = 10;
    pub(crate) const EVENT: u8 = 11;
}

/// The first byte of a length that is followed by the actual length, in four bytes.
pub(super) const LONG: u8 = 0xFF;

/// First bytes of values.
pub(super) mod tag {
    pub(crate) const NIL: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    pub(crate) const INT: u8 = 3;
    pub(crate) const FLOAT: u8 = 4;
    pub(crate) const STR: u8 = 5;
    pub(crate) const TUPLE: u8 = 6;
    pub(crate) const SET: u8 = 7;
    pub(crate) const FUNCTION: u8 = 8;
    pub(crate) const BIG: u8 = 9;
    /// A string of at most 31 bytes has this tag plus its length.
    pub(crate) const SHORT_STR: u8 = 0x20;
    pub(crate) const MAX_SHORT_STR: usize = 31;
    /// An integer from -16 to 175 has this tag plus its value.
    pub(crate) const ZERO: u8 = 0x50;
    pub(crate) const MIN_SMALL_INT: i64 = -16;
    pub(crate) const MAX_SMALL_INT: i64 = 175;
}
