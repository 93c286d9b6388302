// The time at which operations start and end, in nanoseconds of CLOCK_MONOTONIC.
//
// An interval that is too long is harmless, and one that is too short makes correct systems look broken. So no part
// of an operation may happen before the reading of its start or after the reading of its end, whatever the compiler
// and the processor reorder: the start is read before a fence, the end after one. On AArch64 a fence only orders
// memory accesses, and reading the counter is not one. There, `dsb ish` waits until earlier accesses are complete,
// and `isb` lets no later instruction begin sooner.
//
// The time stamp counter takes a third of the time of `clock_gettime`. It is used where the processor says that it
// runs at a constant rate and the kernel has found that it agrees between processors. Counts become nanoseconds by
// one multiply and shift, which is monotone: rounding may make two times equal, and never swaps them. The mapping is
// measured once per program and is anchored to a reading of CLOCK_MONOTONIC, so that traces of several programs share
// one scale, but there the error of the rate shows: some microseconds after a second. Where intervals of different
// operating system processes are compared, set OMNILINK_CLOCK=monotonic.
//
// A program under control is not timed: one thread runs at a time, and the time is the number of the step. The call
// and the return of an operation are steps themselves, so each has its own time.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "control.hpp"
#include "error.hpp"

namespace omnilink {

class Clock {
 public:
  // The fastest trusted clock of this machine. OMNILINK_CLOCK=monotonic or OMNILINK_CLOCK=tsc overrides it; empty
  // counts as not set. In a program under control the time is the number of the step in any case.
  static Clock best() {
    if (detail::is_controlled()) return Clock(Kind::steps);
    const char* const wish = std::getenv("OMNILINK_CLOCK");
    if (wish == nullptr || *wish == '\0') return counter().value_or(monotonic());
    if (std::strcmp(wish, "monotonic") == 0) return monotonic();
    if (std::strcmp(wish, "tsc") != 0) {
      detail::fail("OMNILINK_CLOCK is `" + std::string(wish) + "`, expected `monotonic` or `tsc`");
    }
    if (!counter()) detail::fail("OMNILINK_CLOCK is `tsc`, which is not reliable on this machine");
    return *counter();
  }

  static Clock monotonic() { return Clock(Kind::monotonic); }

  // A clock that reads `now`, for tests. `now` must outlive all records made with it.
  static Clock manual(const std::atomic<std::uint64_t>& now) {
    Clock clock(Kind::manual);
    clock.now_ = &now;
    return clock;
  }

  // True if times come from the time stamp counter.
  bool is_counter() const { return kind_ == Kind::counter; }

  // The unit of its times, as written to a manifest.
  const char* unit() const { return kind_ == Kind::steps ? "steps" : "ns"; }

  // A time before every later instruction.
  std::uint64_t start() const {
    const std::uint64_t time = early();
    settle();
    rest();
    return time;
  }

  // A time before every instruction after `settle`. The thread is recording until `rest` is called.
  std::uint64_t early() const {
#if defined(__x86_64__)
    if (kind_ == Kind::counter) return nanoseconds(count());
#endif
    if (kind_ == Kind::steps) return omnilink_sched_call();
    return kind_ == Kind::manual ? now_->load(std::memory_order_relaxed) : read_monotonic();
  }

  // Keeps later instructions from beginning before the time has been read. Separate from reading it, so that work
  // that may happen before, such as writing the time down, need not wait.
  void settle() const {
#if defined(__x86_64__)
    if (kind_ == Kind::counter) {
      __asm__ __volatile__("lfence" : : : "memory");
      return;
    }
#endif
    if (kind_ == Kind::monotonic) fence();
  }

  // A time after every earlier instruction, and after its stores became visible.
  std::uint64_t end() const {
    const std::uint64_t time = late();
    rest();
    return time;
  }

  // The same. The thread is recording until `rest` is called.
  std::uint64_t late() const {
#if defined(__x86_64__)
    if (kind_ == Kind::counter) return nanoseconds(fence_then_count());
#endif
    if (kind_ == Kind::manual) return now_->load(std::memory_order_relaxed);
    if (kind_ == Kind::steps) return omnilink_sched_return();
    fence();
    return read_monotonic();
  }

  // Ends recording: a start or an end has been written down.
  void rest() const {
    if (kind_ == Kind::steps) omnilink_sched_settle();
  }

 private:
  enum class Kind : unsigned char { counter, monotonic, manual, steps };

  explicit Clock(Kind kind) : kind_(kind) {}

  // The counter if it can be trusted, measured against CLOCK_MONOTONIC on first use.
  static const std::optional<Clock>& counter() {
    static const std::optional<Clock> measured = has_trusted_counter() ? measure() : std::nullopt;
    return measured;
  }

  static std::uint64_t read_monotonic() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  }

#if defined(__x86_64__)
  __extension__ using Wide = unsigned __int128;
  static constexpr unsigned shift = 32;

  static std::uint64_t count() {
    std::uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (static_cast<std::uint64_t>(high) << 32U) | low;
  }

  // The counter is not read before earlier stores are visible to other cores and earlier instructions are done.
  static std::uint64_t fence_then_count() {
    fence();
    return count();
  }

  // A locked instruction makes every earlier store visible to other cores, as mfence does for memory of any type; for
  // ordinary memory mfence only takes longer. Then lfence lets nothing begin before that is done.
  static void fence() { __asm__ __volatile__("lock orl $0, (%%rsp)\n\tlfence" : : : "memory", "cc"); }

  static bool has_trusted_counter() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool runs_at_one_rate = __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
    if (!runs_at_one_rate) return false;
    // The kernel removes the counter from this list when processors disagree.
    std::ifstream list("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    for (std::string name; list >> name;) {
      if (name == "tsc") return true;
    }
    return false;
  }

  // One moment on both clocks. An interrupt between the readings would spoil it, so the closest of several is taken.
  struct Moment {
    std::uint64_t count;
    std::uint64_t time;

    static Moment now() {
      Moment best{};
      std::uint64_t closest = UINT64_MAX;
      for (int attempt = 0; attempt < 16; ++attempt) {
        const std::uint64_t before = fence_then_count();
        const std::uint64_t time = read_monotonic();
        const std::uint64_t after = fence_then_count();
        if (after - before < closest) {
          closest = after - before;
          best = {before + closest / 2, time};
        }
      }
      return best;
    }
  };

  static std::optional<Clock> measure() {
    constexpr std::uint64_t long_enough = 2'000'000;
    const Moment first = Moment::now();
    Moment last = first;
    while (last.time - first.time < long_enough) last = Moment::now();
    if (last.count <= first.count) return std::nullopt;  // It stands still, whatever the processor says.
    Clock clock(Kind::counter);
    clock.first_count_ = first.count;
    clock.first_time_ = first.time;
    const Wide passed = static_cast<Wide>(last.time - first.time) << shift;
    clock.factor_ = static_cast<std::uint64_t>(passed / (last.count - first.count));
    return clock;
  }

  std::uint64_t nanoseconds(std::uint64_t count) const {
    // Another processor's counter may be a few counts behind the one that was measured.
    const std::uint64_t passed = count > first_count_ ? count - first_count_ : 0;
    return first_time_ + static_cast<std::uint64_t>((static_cast<Wide>(passed) * factor_) >> shift);
  }

  std::uint64_t first_count_ = 0;
  std::uint64_t first_time_ = 0;
  std::uint64_t factor_ = 0;
#else
  static void fence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__aarch64__)
    __asm__ __volatile__("dsb ish\n\tisb" : : : "memory");
#endif
  }
  static bool has_trusted_counter() { return false; }
  static std::optional<Clock> measure() { return std::nullopt; }
#endif

  Kind kind_;
  const std::atomic<std::uint64_t>* now_ = nullptr;
};

}  // namespace omnilink
