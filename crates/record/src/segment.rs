//! A segment: one file, mapped into memory, to which records are published.
//!
//! A large range of addresses is mapped once, far beyond the end of the file, and the file grows under it. So
//! addresses never move, and writing a record is storing bytes: no lock, no allocation and, until the file has to
//! grow, no system call. The pages belong to the kernel. However the process ends, published records are in the file.
//!
//! A record under construction is placed after the published ones, from its second byte on. It is published by
//! storing the first byte of its length, with release order, after everything else; a reader that finds zero there
//! stops. This also holds if the process is stopped between any two instructions, because it sees its own stores in
//! program order.
//!
//! A record that was begun and never published leaves its bytes in the file. Before the end record they do no harm,
//! but after it a reader accepts zeros only. They are zeroed before the last record is published, because afterwards
//! the process may be stopped before it has truncated the file.
//!
//! Invariants: `start` is behind the last published record, and the byte there is zero; every byte from `stained` on
//! that is behind `start` is zero; and at least [`MARGIN`] bytes of the file follow `limit`, so code that has checked
//! that an address is not beyond `limit` may store that many bytes there.
//!
//! Miri maps no files. There a segment is memory, whose bytes are stored into the file when the segment is dropped:
//! the same code writes records, and the same tests read them.

use std::fs::{File, OpenOptions};
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::os::unix::io::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::Ordering;

/// The first bytes of every segment, and the version of the format.
const MAGIC: &[u8; 9] = b"\x89OMNISEG\x01";

/// The maximum length of a record's body.
const MAX_BODY: usize = 1 << 24;

/// The first byte of a length that is followed by the actual length, in four bytes.
const LONG: u8 = 0xFF;

/// The number of bytes that may be stored after one comparison. An integer takes 11; the end of a record takes one
/// for the zero behind it, and four more if it turns out to be long.
const MARGIN: usize = 64;

/// The maximum size of the last record, with its length and the zero behind it.
const LAST: usize = 16;
const _: () = assert!(4 + LAST + 11 <= MARGIN); // The bytes stored after the last comparison fit as well.

/// The steps by which the file is extended: the first, doubled each time, up to the last.
const FIRST_STEP: usize = 64 << 10;
const LAST_STEP: usize = 4 << 20;

/// The size of the requested address range. Less is taken if that is refused.
#[cfg(target_pointer_width = "64")]
const RANGE: usize = if cfg!(miri) { 64 << 20 } else { 16 << 30 };
#[cfg(not(target_pointer_width = "64"))]
const RANGE: usize = 256 << 20;
const LEAST_RANGE: usize = 1 << 20;

/// A file that records are published to.
#[derive(Debug)]
pub(crate) struct Segment {
    limit: *mut u8,   // Up to here, and `MARGIN` beyond, the file is allocated.
    start: *mut u8,   // Where the next record begins.
    stained: *mut u8, // Behind all bytes that were begun and never published.
    base: *mut u8,
    range: usize,  // The mapped length.
    length: usize, // The length of the file.
    step: usize,
    header: usize, // Its length.
    file: File,
    path: PathBuf,
    owner: u32, // The process that may write; its children may not.
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
        let (limit, start, stained) = (base, base, base);
        let mut segment =
            Segment { limit, start, stained, base, range, length: 0, step: FIRST_STEP, header: 0, file, path, owner };
        segment.extend(FIRST_STEP)?;
        let mut header = segment.begin();
        header.bytes(&MAGIC[1..]);
        header.byte(length);
        header.bytes(process.as_bytes());
        header.publish_header(MAGIC[0]);
        segment.header = segment.published();
        Ok(segment)
    }

    /// Removes all records, so that the next one is the first again.
    pub(crate) fn rewind(&mut self) {
        // SAFETY: the header is in the mapping, and so is all that was published or begun behind it.
        unsafe {
            let first = self.base.add(self.header);
            let end = self.start.max(self.stained);
            ptr::write_bytes(first, 0, end as usize - first as usize);
            self.start = first;
        }
    }

    /// Begins a record. If it is dropped before it is published, no reader sees it.
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> Body<'_> {
        // SAFETY: `MARGIN` bytes of the mapping follow every published position.
        let next = unsafe { self.start.add(1) };
        let mut cursor = Cursor { next, limit: self.limit, segment: self };
        cursor.reserve();
        Body { cursor, segment: PhantomData }
    }

    /// Begins the last record, which has at most [`LAST`] bytes with its length. The file need not grow for it, so it
    /// can be published on a full disk: a record ends at most four bytes behind `limit`, and `MARGIN` bytes follow
    /// that.
    pub(crate) fn begin_last(&mut self) -> Body<'_> {
        // SAFETY: `MARGIN` bytes of the mapping follow every published position, and the new limit.
        let (next, limit) = unsafe { (self.start.add(1), self.limit.add(4 + LAST)) };
        Body { cursor: Cursor { next, limit, segment: self }, segment: PhantomData }
    }

    /// True if the file was deleted, so that published records are lost.
    pub(crate) fn is_deleted(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.file.metadata().map_or(false, |about| about.nlink() == 0)
    }

    /// The number of published bytes.
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

    /// Extends the file so that this many bytes fit behind `next`, and `MARGIN` more. Returns the new limit.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, next: *mut u8, bytes: usize) -> *mut u8 {
        let needed = (next as usize - self.base as usize + bytes + MARGIN).saturating_sub(self.length);
        let step = self.step.max(needed.saturating_add(self.step - 1) / self.step * self.step);
        if let Err(error) = self.extend(step) {
            // Published records stay; a record under construction is invisible to readers.
            panic!(
                "`{}` cannot grow by {step} bytes: {error}; {} bytes were recorded and can be read",
                self.path.display(),
                self.published()
            );
        }
        self.step = (self.step * 2).min(LAST_STEP);
        self.limit
    }

    fn extend(&mut self, step: usize) -> io::Result<()> {
        if self.length > 0 && self.is_deleted() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it was deleted"));
        }
        let length = self.length.checked_add(step).filter(|length| *length <= self.range);
        let length = length.ok_or_else(|| {
            io::Error::new(io::ErrorKind::Other, format!("only {} bytes of addresses were available", self.range))
        })?;
        allocate(&self.file, self.length, length)?;
        // SAFETY: the addresses are mapped and, since now, backed by the file.
        unsafe { populate(self.base.add(self.length), step) };
        self.length = length;
        // SAFETY: `length` is at least `FIRST_STEP`, which is more than `MARGIN`, and at most the mapped range.
        self.limit = unsafe { self.base.add(length - MARGIN) };
        Ok(())
    }
}

#[cfg(miri)]
impl Segment {
    /// Stores all bytes of the segment into the file, those behind the last record included.
    pub(crate) fn store(&self) {
        use std::os::unix::fs::FileExt as _;
        // SAFETY: this range is mapped, and no thread writes to it meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts(self.base, self.length) };
        self.file.write_all_at(bytes, 0).expect("the file of a test can be written to");
    }
}

impl Drop for Segment {
    /// Truncates the zeros behind the last record, and unmaps the addresses. A forked child leaves the file alone.
    fn drop(&mut self) {
        // A forked child does not inherit the mapping, and another one may have taken its addresses.
        if self.is_ours() {
            let published = self.published() as u64;
            #[cfg(miri)]
            self.store();
            // SAFETY: only this segment points into the mapping, and it ends here.
            unsafe { libc::munmap(self.base.cast(), self.range) };
            // A file that keeps its zeros is a valid segment too.
            let _ = self.file.set_len(published);
        }
    }
}

/// A record under construction. If it is dropped, no reader sees it.
pub(crate) struct Body<'a> {
    cursor: Cursor,
    segment: PhantomData<&'a mut Segment>, // The cursor points to it.
}

/// The write position of a record under construction.
///
/// Separate from the segment, so that a compiler can keep it in registers: as far as it knows, any byte stored to the
/// file might be part of the segment. It exists only inside a [`Body`], which borrows the segment.
#[derive(Debug)]
pub(crate) struct Cursor {
    next: *mut u8,
    limit: *mut u8, // Up to here, and `MARGIN` beyond, the file is allocated.
    segment: *mut Segment,
}

impl Deref for Body<'_> {
    type Target = Cursor;

    #[inline(always)]
    fn deref(&self) -> &Cursor {
        &self.cursor
    }
}

impl DerefMut for Body<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }
}

impl Body<'_> {
    /// Publishes the record.
    #[inline(always)]
    pub(crate) fn publish(mut self) {
        self.cursor.reserve();
        let body = self.cursor.next as usize - self.cursor.start() as usize - 1;
        if body >= usize::from(LONG) {
            self.cursor.lengthen(body);
        } else {
            // SAFETY: `reserve` was called, and `begin` put `next` behind the start.
            unsafe { self.cursor.publish(body as u8) }
        }
        mem::forget(self);
    }

    /// Publishes the last record, after zeroing all bytes behind it.
    pub(crate) fn publish_last(mut self) {
        self.cursor.clean();
        self.publish();
    }

    /// Publishes the header, which is not a record: it has no length, but a first byte.
    fn publish_header(mut self, first: u8) {
        self.cursor.reserve();
        // SAFETY: `reserve` was called, and `begin` put `next` behind the start.
        unsafe { self.cursor.publish(first) }
        mem::forget(self);
    }
}

impl Drop for Body<'_> {
    /// Records how far it was written. Only if it was not published.
    fn drop(&mut self) {
        self.cursor.stain();
    }
}

impl Cursor {
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

    /// Adds raw bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.room(bytes.len());
        // SAFETY: there is room; borrowed bytes cannot be the memory that only this segment writes to.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.next, bytes.len());
            self.next = self.next.add(bytes.len());
        }
    }

    /// The number of bytes in the segment up to here.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.next as usize - self.base() as usize
    }

    /// Adds bytes that were published before, from one position to another.
    pub(crate) fn repeat(&mut self, from: usize, to: usize) {
        assert!(from <= to && to <= self.published(), "only published bytes are repeated");
        self.room(to - from);
        // SAFETY: both ranges are in the mapping; the first is published and the second is not, so they do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(self.base().add(from), self.next, to - from);
            self.next = self.next.add(to - from);
        }
    }

    /// True if the bytes added since `position` equal those published from `from` to `to`.
    pub(crate) fn since_is_same(&self, position: usize, from: usize, to: usize) -> bool {
        let here = self.position();
        assert!(from <= to && to <= self.published() && position <= here, "both ranges have been written");
        // SAFETY: both ranges are in the mapping, have been written, and are not written to while they are borrowed.
        let [old, new] = unsafe {
            [
                std::slice::from_raw_parts(self.base().add(from), to - from),
                std::slice::from_raw_parts(self.base().add(position), here - position),
            ]
        };
        old == new
    }

    #[inline(always)]
    fn start(&self) -> *mut u8 {
        // SAFETY: the body that this cursor belongs to borrows the segment, so there is no other user meanwhile.
        unsafe { (*self.segment).start }
    }

    #[inline(always)]
    fn base(&self) -> *mut u8 {
        // SAFETY: as in `start`.
        unsafe { (*self.segment).base }
    }

    fn published(&self) -> usize {
        self.start() as usize - self.base() as usize
    }

    #[inline(always)]
    fn reserve(&mut self) {
        if self.next > self.limit {
            // SAFETY: as in `start`.
            self.limit = unsafe { (*self.segment).grow(self.next, 0) };
        }
    }

    /// Makes sure that this many bytes fit before `limit`.
    #[inline(always)]
    fn room(&mut self, bytes: usize) {
        if bytes > (self.limit as usize).saturating_sub(self.next as usize) {
            // SAFETY: as in `start`.
            self.limit = unsafe { (*self.segment).grow(self.next, bytes) };
        }
    }

    /// Records that bytes up to `next` remain.
    fn stain(&mut self) {
        // SAFETY: as in `start`.
        let stained = unsafe { &mut (*self.segment).stained };
        *stained = (*stained).max(self.next);
    }

    /// Zeros all bytes behind `next` that were begun and never published.
    fn clean(&mut self) {
        // SAFETY: as in `start`; both addresses are in the mapping, because both have been written up to.
        unsafe {
            let stained = (*self.segment).stained;
            ptr::write_bytes(self.next, 0, (stained as usize).saturating_sub(self.next as usize));
        }
    }

    /// Makes room for a long length, and publishes.
    #[cold]
    fn lengthen(&mut self, body: usize) {
        assert!(body <= MAX_BODY, "a record of {body} bytes cannot be written; at most {MAX_BODY} are allowed");
        // SAFETY: the four bytes by which the body moves have been reserved; it stays inside the mapping.
        unsafe {
            let from = self.start().add(1);
            ptr::copy(from, from.add(4), body);
            ptr::copy_nonoverlapping((body as u32).to_le_bytes().as_ptr(), from, 4);
            self.next = self.next.add(4);
            self.publish(LONG);
        }
    }

    /// Stores the byte that makes the record visible, and moves behind it.
    ///
    /// # Safety
    ///
    /// `next` is behind the start of the record, and at least one byte of the file follows.
    #[inline(always)]
    unsafe fn publish(&mut self, first: u8) {
        let start = self.start();
        // SAFETY: the caller guarantees that both bytes are in the mapping. The segment is ours, as in `start`.
        unsafe {
            *self.next = 0;
            store_last(start, first);
            (*self.segment).start = self.next;
        }
    }
}

/// Stores a byte that this process never reads, after all earlier stores.
///
/// On x86-64 stores become visible in the order in which they are made, so only the compiler needs a fence. An atomic
/// store would be the same instruction, but a program under control counts it as a separate step.
///
/// # Safety
///
/// The byte is in the mapping of a segment that is ours.
#[inline(always)]
unsafe fn store_last(to: *mut u8, byte: u8) {
    // SAFETY: guaranteed by the caller.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::sync::atomic::compiler_fence(Ordering::Release);
        ptr::write_volatile(to, byte);
    }
    // SAFETY: guaranteed by the caller; a byte is always aligned, and readers in other processes see it atomically.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        (*(to as *const std::sync::atomic::AtomicU8)).store(byte, Ordering::Release);
    }
}

/// Maps as many addresses as available.
fn map(file: &File) -> io::Result<(*mut u8, usize)> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (flags, file) = match cfg!(miri) {
        true => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
        false => (libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd()),
    };
    let mut range = RANGE;
    loop {
        // SAFETY: the call requests no address, so it replaces no existing mapping.
        let address = unsafe { libc::mmap(ptr::null_mut(), range, access, flags, file, 0) };
        if address != libc::MAP_FAILED {
            keep_from_children(address, range);
            return Ok((address.cast(), range));
        }
        if range == LEAST_RANGE {
            return Err(io::Error::last_os_error());
        }
        range /= 2;
    }
}

/// Excludes a mapping from forked children. A child that continues to record for its parent faults, where it would
/// otherwise overwrite the parent's records.
fn keep_from_children(address: *mut libc::c_void, range: usize) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    // SAFETY: the addresses are mapped; their contents do not change. If the call fails, nothing is protected.
    unsafe {
        libc::madvise(address, range, libc::MADV_DONTFORK);
    }
    #[cfg(any(not(any(target_os = "linux", target_os = "android")), miri))]
    let _ = (address, range);
}

/// Extends a file with zeros that are allocated on the disk, or at least with a length: then a full disk shows when a
/// page is first stored to, as SIGBUS.
fn allocate(file: &File, from: usize, to: usize) -> io::Result<()> {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    loop {
        // SAFETY: the descriptor is open, and no memory is involved.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, from as libc::off_t, (to - from) as libc::off_t) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => break, // File systems differ in the error.
            _ => return Err(error),
        }
    }
    let _ = from;
    file.set_len(to as u64)
}

/// Faults pages in before they are written to. Without it, each costs a fault at its first byte, and nothing else.
///
/// # Safety
///
/// These addresses are mapped and backed by a file.
unsafe fn populate(address: *mut u8, length: usize) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    // SAFETY: the caller guarantees that the addresses are mapped; their contents do not change.
    unsafe {
        libc::madvise(address.cast(), length, libc::MADV_POPULATE_WRITE);
    }
    #[cfg(any(not(any(target_os = "linux", target_os = "android")), miri))]
    let _ = (address, length);
}

/// Writes a varint and returns its end.
///
/// The length of most numbers can be predicted from that of the numbers before, and then a branch on it costs
/// nothing, while computing it would stall the instructions behind it.
///
/// # Safety
///
/// Ten bytes can be written to.
#[inline(always)]
unsafe fn put_varint(at: *mut u8, number: u64) -> *mut u8 {
    // SAFETY: the caller guarantees that ten bytes can be written to.
    unsafe {
        if number < 1 << 7 {
            *at = number as u8;
            return at.add(1);
        }
        *at = number as u8 | 0x80;
        if number < 1 << 14 {
            *at.add(1) = (number >> 7) as u8;
            return at.add(2);
        }
        *at.add(1) = (number >> 7) as u8 | 0x80;
        if number < 1 << 21 {
            *at.add(2) = (number >> 14) as u8;
            return at.add(3);
        }
        put_long_varint(at, number)
    }
}

/// The same for numbers of many bytes.
///
/// # Safety
///
/// Ten bytes can be written to.
unsafe fn put_long_varint(mut at: *mut u8, mut number: u64) -> *mut u8 {
    // SAFETY: 64 bits are nine groups of seven and a last one, so this stores at most ten bytes.
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
