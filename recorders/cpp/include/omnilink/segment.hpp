// The file of one process, written through a shared mapping.
//
// There is no signal handler here, and no flush, because there is nothing to flush: the pages of a shared mapping
// belong to the kernel. Records published when the program calls `exit` or `_exit`, throws, aborts, is hit by SIGSEGV
// or killed by SIGKILL are in the file. Only a machine that loses power loses pages.
//
// Addresses are reserved once, far more than will be needed, and the file behind them grows in steps. So no address
// ever changes, and between two steps a record costs neither a system call nor an allocation nor a lock.
//
// Invariant: the byte at `position_` is zero, so a reader stops there, and so is every byte behind both `position_`
// and `stained_`: a body that threw leaves its bytes up to there. A record is published by storing the first byte of
// its length last, with release order. Behind the end record a reader accepts zeros only, and the program may be
// killed before it has truncated the file, so stained bytes are zeroed before the last record is published.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "error.hpp"
#include "value.hpp"

namespace omnilink::detail {

class Segment {
 public:
  // Creates the file, which must not exist, and publishes the header.
  Segment(const std::string& path, std::string_view process) : path_(path) {
    if (process.size() > 255) fail("the name of a process has at most 255 bytes");
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) fail_with_errno("cannot create " + path);
    reserve_addresses();
    grow(1);

    constexpr std::uint8_t magic[] = {0x89, 'O', 'M', 'N', 'I', 'S', 'E', 'G'};
    std::uint8_t* to = base_ + 1;
    to = std::copy(magic + 1, magic + sizeof magic, to);
    *to++ = 1;
    *to++ = static_cast<std::uint8_t>(process.size());
    to = std::copy(process.begin(), process.end(), to);
    position_ = static_cast<std::size_t>(to - base_);
    header_ = position_;
    publish(base_, magic[0]);
  }

  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Leaves the file unchanged: its owner decides how it ends, by `cut`.
  ~Segment() {
    // A forked child does not inherit the mapping, and another one may have taken its addresses.
    if (::getpid() == owner_) ::munmap(base_, reserved_);
    ::close(file_);
  }

  // Publishes a record. `body` writes it, at most `bound` bytes, and returns its end.
  template <class Body>
  void append(std::size_t bound, Body&& body) {
    if (__builtin_expect(bound + most_around + last_room > size_ - position_, 0)) grow(bound + most_around + last_room);
    put(bound, body);
  }

  // The same for the last record, after zeroing all bytes behind it. It has at most `last_bound` bytes, and the file
  // need not grow for it, so it can be published on a full disk.
  template <class Body>
  void append_last(Body&& body) {
    put(last_bound, [&](std::uint8_t* to) {
      std::uint8_t* const end = body(to);
      const auto from = static_cast<std::size_t>(end - base_);
      if (from < stained_) std::memset(end, 0, stained_ - from);
      return end;
    });
  }

  // Removes all records, so that the next one is the first again.
  void rewind() {
    std::memset(base_ + header_, 0, std::max(position_, stained_) - header_);
    position_ = header_;
  }

  // The end of the last record.
  const std::uint8_t* end() const { return base_ + position_; }

  // The name of the file.
  const std::string& path() const { return path_; }

  // True if the file was deleted, so that published records are lost.
  bool is_deleted() const {
    struct stat about;
    return ::fstat(file_, &about) == 0 && about.st_nlink == 0;
  }

  // Truncates the file after the last record. Nothing may be appended afterwards.
  void cut() {
    // If that fails the zeros stay, which readers accept.
    [[maybe_unused]] const int result = ::ftruncate(file_, static_cast<off_t>(position_));
    size_ = position_;
  }

 private:
  // Publishes a record for which there is room.
  template <class Body>
  void put(std::size_t bound, Body&& body) {
    std::uint8_t* const head = base_ + position_;
    const bool may_be_long = bound >= long_form;
    std::uint8_t* const end = written(body, head + (may_be_long ? 5 : 1), bound);
    if (__builtin_expect(may_be_long, 0)) return append_long(head, end);
    *end = 0;  // It is, unless a body that threw has stained it.
    position_ = static_cast<std::size_t>(end - base_);
    publish(head, static_cast<std::uint8_t>(end - head - 1));
  }

  static constexpr std::size_t long_form = 0xFF;
  static constexpr std::size_t longest_body = std::size_t{1} << 24U;
  // The long form of a length, a zero behind the body, and the reach of a store of several bytes beyond it.
  static constexpr std::size_t most_around = 5 + 1 + room_beyond;
  // The size of the last record, for which there is always room.
  static constexpr std::size_t last_bound = 1 + longest_varint;
  static constexpr std::size_t last_room = last_bound + most_around;
  static constexpr std::size_t first_step = std::size_t{64} << 10U;
  static constexpr std::size_t largest_step = std::size_t{4} << 20U;
  static constexpr std::size_t most_addresses = std::size_t{16} << 30U;
  static constexpr std::size_t fewest_addresses = std::size_t{64} << 20U;

  // On x86-64 stores become visible in the order in which they are made, so only the compiler needs a fence. An
  // atomic store would be the same instruction, but a program under control counts it as a separate step.
  static void publish(std::uint8_t* head, std::uint8_t first) {
#if defined(__x86_64__)
    __asm__ __volatile__("" : : : "memory");
    *static_cast<volatile std::uint8_t*>(head) = first;
#else
    __atomic_store_n(head, first, __ATOMIC_RELEASE);
#endif
  }

  // The result of `body`. If it throws, records how far it may have written.
  template <class Body>
  std::uint8_t* written(Body& body, std::uint8_t* to, std::size_t bound) {
#ifdef __cpp_exceptions
    try {
      return body(to);
    } catch (...) {
      stain(static_cast<std::size_t>(to - base_) + bound + room_beyond);
      throw;
    }
#else
    static_cast<void>(bound);
    return body(to);
#endif
  }

  void stain(std::size_t position) { stained_ = std::max(stained_, position); }

  // The body is five bytes behind the head, and belongs one behind it if it came out shorter than its bound.
  [[gnu::noinline]] void append_long(std::uint8_t* head, std::uint8_t* end) {
    const auto length = static_cast<std::size_t>(end - head) - 5;
    if (length > longest_body) {
      stain(static_cast<std::size_t>(end - base_));
      fail("a record has at most 16 MiB");
    }
    if (length < long_form) {
      std::memmove(head + 1, head + 5, length);
      std::memset(head + 1 + length, 0, 4);
      position_ += 1 + length;
      publish(head, static_cast<std::uint8_t>(length));
      return;
    }
    for (unsigned i = 0; i < 4; ++i) head[1 + i] = static_cast<std::uint8_t>(length >> (8 * i));
    *end = 0;
    position_ += 5 + length;
    publish(head, static_cast<std::uint8_t>(long_form));
  }

  // Mapping beyond the end of a file is allowed; only touching it is not.
  void reserve_addresses() {
    for (reserved_ = most_addresses; reserved_ >= fewest_addresses; reserved_ /= 2) {
      void* const base = ::mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
      if (base != MAP_FAILED) {
        base_ = static_cast<std::uint8_t*>(base);
        // A forked child that continues to record for its parent faults, where it would otherwise overwrite the
        // parent's records.
        ::madvise(base, reserved_, MADV_DONTFORK);
        return;
      }
    }
    const int reason = errno;
    ::close(file_);
    errno = reason;
    fail_with_errno("cannot map " + path_);
  }

  // Retries as long as a signal interrupts the call.
  template <class Work>
  static bool succeeds(const Work& work) {
    int result = work();
    while (result != 0 && errno == EINTR) result = work();
    return result == 0;
  }

  // Makes room for `bytes` more, and has the kernel prepare the pages so that the hot path does not fault.
  [[gnu::noinline]] void grow(std::size_t bytes) {
    std::size_t size = size_;
    while (size - position_ < bytes) {
      size += step_;
      step_ = std::min(2 * step_, largest_step);
    }
    if (size > reserved_) fail("there are no addresses left for " + path_);
    if (size_ != 0 && is_deleted()) fail(path_ + " was deleted");
    const auto from = static_cast<off_t>(size_);
    const auto to = static_cast<off_t>(size);
    // Blocks allocated now cannot be missing later, when a store could only die of SIGBUS. On file systems without
    // `fallocate` the file has only a length, and a full disk is that SIGBUS.
    if (!succeeds([&] { return ::fallocate(file_, 0, from, to - from); })) {
      const bool is_unknown = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
      if (!is_unknown || !succeeds([&] { return ::ftruncate(file_, to); })) fail_with_errno("cannot extend " + path_);
    }
    constexpr int populate_for_writing = 23;  // MADV_POPULATE_WRITE, which older headers and kernels lack.
    ::madvise(base_ + size_, size - size_, populate_for_writing);
    size_ = size;
  }

  std::uint8_t* base_ = nullptr;
  std::size_t position_ = 0;
  std::size_t header_ = 0;  // Its length.
  std::size_t stained_ = 0;
  std::size_t size_ = 0;
  std::size_t step_ = first_step;
  std::size_t reserved_ = 0;
  int file_ = -1;
  pid_t owner_ = ::getpid();
  std::string path_;
};

}  // namespace omnilink::detail
