//! The heap of this library: it never uses the program's allocator.
//!
//! A program may have an allocator with locks. Under control those are steps, so an allocation in the middle of a step
//! would start another one, and change tables that are being changed. And the program's addresses would depend on this
//! library's allocations.
//!
//! Every request is rounded up to a power of two. Freed pieces are kept in a list for each size and reused, last in
//! first out. New pieces are cut from large areas, of which the kernel provides the touched pages.
//!
//! The allocating thread has the baton, or is the only one; the lock is for programs that are not controlled, and for
//! threads that report why they end the process.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The bytes requested from the kernel at a time, unless one request is larger.
const AREA: usize = 1 << 26;
/// The smallest piece: freed pieces hold their list.
const SMALLEST: usize = 16;
/// The page size, to which mappings are aligned.
const PAGE: usize = 4096;

/// See the module documentation.
pub(crate) struct Heap {
    is_locked: AtomicBool,
    state: UnsafeCell<State>,
}

// SAFETY: the state is accessed by the thread that has the lock.
unsafe impl Sync for Heap {}

struct State {
    /// By the logarithm of the size, the piece freed last, which holds the address of the one freed before it.
    returned: [*mut u8; usize::BITS as usize],
    /// The rest of the last area.
    start: *mut u8,
    left: usize,
}

impl Heap {
    pub(crate) const fn new() -> Heap {
        let nothing = std::ptr::null_mut();
        let state = State { returned: [nothing; usize::BITS as usize], start: nothing, left: 0 };
        Heap { is_locked: AtomicBool::new(false), state: UnsafeCell::new(state) }
    }

    fn with<R>(&self, what: impl FnOnce(&mut State) -> R) -> R {
        self.lock();
        // SAFETY: this thread has the lock, and `what` calls nothing but the kernel.
        let result = what(unsafe { &mut *self.state.get() });
        self.unlock();
        result
    }

    fn lock(&self) {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.is_locked.store(false, Ordering::Release);
    }
}

/// Keeps the lock usable in processes forked while another thread has it: the forking thread takes it before. Called
/// before the program's code, so that this handler runs last before a fork and first after it.
pub(crate) fn survive_forks() {
    extern "C" fn lock() {
        crate::HEAP.lock();
    }
    extern "C" fn unlock() {
        crate::HEAP.unlock();
    }
    // SAFETY: functions that access only the lock.
    unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(unlock)) };
}

/// The power of two that a request is rounded up to. A piece is aligned to its size, or to pages.
fn rounded(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST).checked_next_power_of_two()?;
    (layout.align() <= PAGE).then_some(size)
}

impl State {
    fn take(&mut self, size: usize) -> *mut u8 {
        let list = &mut self.returned[size.trailing_zeros() as usize];
        let first = *list;
        if !first.is_null() {
            // SAFETY: a freed piece is large enough, aligned, and holds an address.
            *list = unsafe { first.cast::<*mut u8>().read() };
            return first;
        }
        let to_aligned = self.start.align_offset(size.min(PAGE));
        if self.left < to_aligned.saturating_add(size) {
            let length = size.max(AREA);
            let Some(start) = area(length) else { return std::ptr::null_mut() };
            (self.start, self.left) = (start, length);
            return self.cut(size);
        }
        self.start = self.start.wrapping_add(to_aligned);
        self.left -= to_aligned;
        self.cut(size)
    }

    /// Cuts a piece from the rest, which is aligned and long enough.
    fn cut(&mut self, size: usize) -> *mut u8 {
        let piece = self.start;
        self.start = self.start.wrapping_add(size);
        self.left -= size;
        piece
    }

    fn put_back(&mut self, piece: *mut u8, size: usize) {
        let list = &mut self.returned[size.trailing_zeros() as usize];
        // SAFETY: the piece is no longer in use, and an address fits.
        unsafe { piece.cast::<*mut u8>().write(*list) };
        *list = piece;
    }
}

/// Fresh memory from the kernel.
#[cfg(not(miri))]
fn area(length: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let arguments = [0, length as i64, i64::from(protection), i64::from(flags), -1, 0];
    // SAFETY: a new mapping at any address.
    let start = unsafe { crate::real::kernel(libc::SYS_mmap, arguments) };
    (start > 0).then_some(start as *mut u8)
}

/// The same for Miri, which cannot run the system call instruction, but knows the function of the C library.
#[cfg(miri)]
fn area(length: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at any address.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start.cast())
}

// SAFETY: pieces do not overlap, have the requested size and alignment, and stay valid until they are freed.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        rounded(layout).map_or(std::ptr::null_mut(), |size| self.with(|state| state.take(size)))
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if let Some(size) = rounded(layout) {
            self.with(|state| state.put_back(piece, size));
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller has checked that this is a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if rounded(wanted) == rounded(layout) {
            return piece;
        }
        // SAFETY: as the caller promised; both are at least as long as the shorter one.
        unsafe {
            let other = self.alloc(wanted);
            if !other.is_null() {
                other.copy_from_nonoverlapping(piece, layout.size().min(size));
                self.dealloc(piece, layout);
            }
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn pieces_are_aligned_disjoint_and_reused() {
        let heap = Heap::new();
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let layouts = [layout(1, 1), layout(24, 8), layout(100, 64), layout(5000, 4096), layout(AREA + 1, 8)];
        // SAFETY: no layout is empty, and every freed piece was allocated.
        unsafe {
            let pieces = layouts.map(|layout| heap.alloc(layout));
            for (piece, layout) in pieces.iter().zip(layouts) {
                assert!(!piece.is_null() && (*piece as usize).is_multiple_of(layout.align()));
                piece.write_bytes(layout.size() as u8, layout.size());
            }
            for (piece, layout) in pieces.iter().zip(layouts) {
                assert_eq!(piece.read(), layout.size() as u8);
                assert_eq!(piece.add(layout.size() - 1).read(), layout.size() as u8);
                heap.dealloc(*piece, layout);
                assert_eq!(heap.alloc(layout), *piece);
            }
            pieces[1].write_bytes(24, 24);
            let longer = heap.realloc(pieces[1], layouts[1], 200);
            assert_eq!((longer.read(), longer.add(23).read()), (24, 24));
        }
    }

    #[test]
    fn threads_take_turns() {
        let (heap, layout) = (Heap::new(), Layout::new::<[u64; 4]>());
        thread::scope(|scope| {
            for number in 0..2 {
                let heap = &heap;
                scope.spawn(move || {
                    for round in 0..20 {
                        // SAFETY: every written or freed piece was allocated for this many numbers.
                        unsafe {
                            let piece = heap.alloc(layout).cast::<[u64; 4]>();
                            piece.write([number, round, number, round]);
                            thread::yield_now();
                            assert_eq!(piece.read(), [number, round, number, round]);
                            heap.dealloc(piece.cast(), layout);
                        }
                    }
                });
            }
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no `fork`")]
    fn a_child_can_allocate_although_another_thread_had_the_lock() {
        survive_forks();
        let is_held = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                crate::HEAP.with(|_| {
                    is_held.wait();
                    thread::sleep(Duration::from_millis(50));
                });
            });
            is_held.wait();
            // SAFETY: the child allocates from the heap under test, and exits. The alarm kills a child that spins.
            let status = unsafe {
                let child = libc::fork();
                if child == 0 {
                    libc::alarm(5);
                    let piece = crate::HEAP.alloc(Layout::new::<u64>());
                    libc::_exit(i32::from(piece.is_null()));
                }
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                status
            };
            assert_eq!(status, 0);
        });
    }
}
