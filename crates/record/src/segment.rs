//! A segment: one file, mapped into memory, to which records are published.
//!
//! A large range of addresses is mapped once, far beyond the end of the file, and the file grows under it. So addresses
//! never move, and writing a record is storing bytes: no lock, no allocation and, until the file has to grow, no system
//! call. The pages belong to the kernel. Whatever way the process ends, what was published is in the file.
//!
//! A record under construction stands behind the published ones, from its second byte on. It is published by storing
//! the first byte of its length, with release order, after everything else; a reader that finds zero there stops. This
//! also holds if the process is stopped between any two instructions, because it sees its own stores in program order.
//!
//! What stays true: `start` is behind the last published record, and the byte there is zero; `start < next`, and at
//! least [`MARGIN`] bytes of the file follow `limit`, so what checks that `next` is not beyond `limit` may store that many.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::io::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

/// The first bytes of every segment, and the version of the format.
const MAGIC: &[u8; 9] = b"\x89OMNISEG\x01";

/// The longest body of a record.
const MAX_BODY: usize = 1 << 24;

/// The first byte of a length that is followed by the length proper, in four bytes.
const LONG: u8 = 0xFF;

/// How many bytes may be stored after one comparison. An integer takes 11, and the store that writes it up to 13; the end
/// of a record takes one for the zero behind it, and four more if it turns out to be long.
const MARGIN: usize = 64;

/// How far the file is extended: first by this, then by twice as much each time, up to the last.
const FIRST_STEP: usize = 64 << 10;
const LAST_STEP: usize = 4 << 20;

/// The addresses that are asked for. Less is taken if that is refused.
#[cfg(target_pointer_width = "64")]
const RANGE: usize = 64 << 30;
#[cfg(not(target_pointer_width = "64"))]
const RANGE: usize = 256 << 20;
const LEAST_RANGE: usize = 1 << 20;

/// A file that records are published to.
#[derive(Debug)]
pub(crate) struct Segment {
    next: *mut u8,  // Where the record under construction goes on.
    limit: *mut u8, // Up to here, and `MARGIN` beyond, the file is there.
    start: *mut u8, // Where the record under construction begins.
    base: *mut u8,
    range: usize,  // How much is mapped.
    length: usize, // How long the file is.
    step: usize,
    file: File,
    path: PathBuf,
    owner: u32, // The process that may write, and not its children.
}

// SAFETY: the mapping belongs to the segment alone, and nothing in it is bound to a thread.
unsafe impl Send for Segment {}

impl Segment {
    /// Creates the file and publishes the header. The name of the process has at most 255 bytes.
    pub(crate) fn create(path: PathBuf, process: &str) -> io::Result<Segment> {
        let length = u8::try_from(process.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "the name of a process has more than 255 bytes")
        })?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let (base, range) = map(&file)?;
        let owner = std::process::id();
        let (next, limit, start) = (base, base, base);
        let mut segment = Segment { next, limit, start, base, range, length: 0, step: FIRST_STEP, file, path, owner };
        segment.extend(FIRST_STEP)?;
        segment.begin();
        segment.bytes(&MAGIC[1..]);
        segment.byte(length);
        segment.bytes(process.as_bytes());
        // SAFETY: `next` is not beyond `limit`, and `start` is before it.
        unsafe { segment.publish_byte(MAGIC[0]) };
        Ok(segment)
    }

    /// Begins a record. What was begun and not published is forgotten.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        // SAFETY: `MARGIN` bytes of the mapping follow every place that has been published.
        self.next = unsafe { self.start.add(1) };
        self.reserve();
    }

    /// Adds a byte.
    #[inline(always)]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.reserve();
        // SAFETY: `reserve` made sure that `MARGIN` bytes from `next` on are in the file.
        unsafe {
            *self.next = byte;
            self.next = self.next.add(1);
        }
    }

    /// Adds a byte and a varint.
    #[inline(always)]
    pub(crate) fn tagged(&mut self, tag: u8, number: u64) {
        self.reserve();
        // SAFETY: `reserve` made sure that `MARGIN` bytes from `next` on are in the file, and this takes at most 11.
        unsafe {
            *self.next = tag;
            self.next = put_varint(self.next.add(1), number);
        }
    }

    /// Adds a varint.
    #[inline(always)]
    pub(crate) fn varint(&mut self, number: u64) {
        self.reserve();
        // SAFETY: `reserve` made sure that `MARGIN` bytes from `next` on are in the file, and this takes at most 10.
        unsafe { self.next = put_varint(self.next, number) };
    }

    /// Adds bytes as they are.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > self.room() {
            self.grow(bytes.len());
        }
        // SAFETY: there is room up to `limit`; what is borrowed cannot be the memory that only this segment writes to.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.next, bytes.len());
            self.next = self.next.add(bytes.len());
        }
    }

    /// How many bytes the segment holds up to here. For [`Segment::repeat`] and [`Segment::since_is_same`].
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.next as usize - self.base as usize
    }

    /// Adds bytes that were published before.
    pub(crate) fn repeat(&mut self, from: usize, to: usize) {
        assert!(from <= to && to <= self.published(), "only what was published is repeated");
        if to - from > self.room() {
            self.grow(to - from);
        }
        // SAFETY: both ranges are in the mapping; the first is published and the second is not, so they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(self.base.add(from), self.next, to - from);
            self.next = self.next.add(to - from);
        }
    }

    /// True if what was added since `position` is what was published from `from` to `to`.
    pub(crate) fn since_is_same(&self, position: usize, from: usize, to: usize) -> bool {
        let here = self.position();
        assert!(from <= to && to <= self.published() && position <= here, "both ranges have been written");
        // SAFETY: both ranges are in the mapping, have been written, and nobody writes to them while they are borrowed.
        let [old, new] = unsafe {
            [
                std::slice::from_raw_parts(self.base.add(from), to - from),
                std::slice::from_raw_parts(self.base.add(position), here - position),
            ]
        };
        old == new
    }

    /// Publishes the record.
    #[inline(always)]
    pub(crate) fn publish(&mut self) {
        self.reserve();
        let body = self.next as usize - self.start as usize - 1;
        if body >= usize::from(LONG) {
            self.lengthen(body);
        } else {
            // SAFETY: `reserve` was called, and `begin` put `start` before `next`.
            unsafe { self.publish_byte(body as u8) }
        }
    }

    /// How many bytes were published.
    pub(crate) fn published(&self) -> usize {
        self.start as usize - self.base as usize
    }

    /// The name of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// False in a forked child, which must leave the file alone.
    pub(crate) fn is_ours(&self) -> bool {
        self.owner == std::process::id()
    }

    /// Makes room for a long length, and publishes.
    #[cold]
    fn lengthen(&mut self, body: usize) {
        assert!(body <= MAX_BODY, "a record of {body} bytes cannot be written; at most {MAX_BODY} are allowed");
        // SAFETY: `publish` reserved the four bytes by which the body moves; it stays inside the mapping.
        unsafe {
            let from = self.start.add(1);
            ptr::copy(from, from.add(4), body);
            ptr::copy_nonoverlapping((body as u32).to_le_bytes().as_ptr(), from, 4);
            self.next = self.next.add(4);
            self.publish_byte(LONG);
        }
    }

    /// Stores what makes the record one, and goes on behind it.
    ///
    /// # Safety
    ///
    /// `start` is before `next`, and at least one byte of the file follows `next`.
    #[inline(always)]
    unsafe fn publish_byte(&mut self, first: u8) {
        // SAFETY: the caller says that both bytes are in the mapping. A byte is always aligned, and nobody in this process
        // reads it; readers in others see it atomically.
        unsafe {
            *self.next = 0;
            (*(self.start as *const AtomicU8)).store(first, Ordering::Release);
        }
        self.start = self.next;
    }

    #[inline(always)]
    fn reserve(&mut self) {
        if self.next > self.limit {
            self.grow(0);
        }
    }

    /// How many bytes fit before `limit`.
    #[inline(always)]
    fn room(&self) -> usize {
        (self.limit as usize).saturating_sub(self.next as usize)
    }

    /// Extends the file so that this many bytes fit and `MARGIN` more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, bytes: usize) {
        let needed = (self.position() + bytes + MARGIN).saturating_sub(self.length);
        let step = self.step.max(needed.saturating_add(self.step - 1) / self.step * self.step);
        if let Err(error) = self.extend(step) {
            // What was published stays; what was begun is not there for any reader.
            panic!(
                "`{}` cannot grow by {step} bytes: {error}; {} bytes were recorded and can be read",
                self.path.display(),
                self.published()
            );
        }
        self.step = (self.step * 2).min(LAST_STEP);
    }

    fn extend(&mut self, step: usize) -> io::Result<()> {
        let length = self.length.checked_add(step).filter(|length| *length <= self.range);
        let length = length.ok_or_else(|| {
            io::Error::new(io::ErrorKind::Other, format!("only {} bytes of addresses were to be had", self.range))
        })?;
        allocate(&self.file, self.length, length)?;
        // SAFETY: the addresses are mapped and, since now, backed by the file.
        unsafe { populate(self.base.add(self.length), step) };
        self.length = length;
        // SAFETY: `length` is at least `FIRST_STEP`, which is more than `MARGIN`, and at most what is mapped.
        self.limit = unsafe { self.base.add(length - MARGIN) };
        Ok(())
    }
}

impl Drop for Segment {
    /// Gives the zeros behind the last record back, and the addresses. A forked child leaves the file alone.
    fn drop(&mut self) {
        let published = self.published() as u64;
        // SAFETY: nothing points into the mapping but this segment, which ends here.
        unsafe { libc::munmap(self.base.cast(), self.range) };
        if self.is_ours() {
            // A file that keeps its zeros is as good a segment.
            let _ = self.file.set_len(published);
        }
    }
}

/// Maps as many addresses as there are to be had.
fn map(file: &File) -> io::Result<(*mut u8, usize)> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
    let mut range = RANGE;
    loop {
        // SAFETY: no address is asked for, so no mapping that exists is replaced.
        let address = unsafe { libc::mmap(ptr::null_mut(), range, access, flags, file.as_raw_fd(), 0) };
        if address != libc::MAP_FAILED {
            return Ok((address.cast(), range));
        }
        if range == LEAST_RANGE {
            return Err(io::Error::last_os_error());
        }
        range /= 2;
    }
}

/// Extends a file with zeros that have a place on the disk, or at least a length.
fn allocate(file: &File, from: usize, to: usize) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    loop {
        // SAFETY: the descriptor is open, and no memory is involved.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, from as libc::off_t, (to - from) as libc::off_t) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => break,
            _ => return Err(error),
        }
    }
    let _ = from;
    file.set_len(to as u64)
}

/// Has pages ready before they are written to. Without it, each costs a fault at its first byte, and nothing else.
///
/// # Safety
///
/// These addresses are mapped and backed by a file.
unsafe fn populate(address: *mut u8, length: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the caller says that the addresses are mapped; their contents do not change.
    unsafe {
        libc::madvise(address.cast(), length, libc::MADV_POPULATE_WRITE);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (address, length);
}

/// Writes a varint and says where it ends. Takes no branch on the length of a number of up to 56 bits.
///
/// # Safety
///
/// Ten bytes can be written to. Those that the number does not need may be set to zero.
#[inline(always)]
unsafe fn put_varint(mut at: *mut u8, mut number: u64) -> *mut u8 {
    if number < 1 << 56 {
        // Seven bits for each byte: first halves of 28 bits, then quarters of 14.
        let bits = 64 - (number | 1).leading_zeros();
        let length = (bits * 9 + 64) / 64; // Is bits / 7, rounded up.
        let halves = (number & 0x0FFF_FFFF) | ((number & 0x00FF_FFFF_F000_0000) << 4);
        let quarters = (halves & 0x0000_3FFF_0000_3FFF) | ((halves & 0x0FFF_C000_0FFF_C000) << 2);
        let bytes = (quarters & 0x007F_007F_007F_007F) | ((quarters & 0x3F80_3F80_3F80_3F80) << 1);
        let more = 0x8080_8080_8080_8080 & ((1 << (8 * (length - 1))) - 1);
        // SAFETY: the caller says that ten bytes can be written to.
        return unsafe {
            at.cast::<u64>().write_unaligned((bytes | more).to_le());
            at.add(length as usize)
        };
    }
    // SAFETY: 64 bits are nine groups of seven and a last one, so this stores ten bytes at most.
    unsafe {
        while number >= 0x80 {
            *at = number as u8 | 0x80;
            at = at.add(1);
            number >>= 7;
        }
        *at = number as u8;
        at.add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: u64) {
        let mut expected = Vec::new();
        let mut rest = number;
        while rest >= 0x80 {
            expected.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        expected.push(rest as u8);
        let mut bytes = [0xAA; 10];
        // SAFETY: there are ten bytes.
        let end = unsafe { put_varint(bytes.as_mut_ptr(), number) };
        assert_eq!(&bytes[..end as usize - bytes.as_ptr() as usize], expected, "{number:#x}");
    }

    #[test]
    fn varints_of_every_length() {
        (0..64)
            .flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1_u64 << bit) + 1])
            .chain([u64::MAX, 0x5A5A_1234])
            .for_each(check);
    }
}
