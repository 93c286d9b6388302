// Nanoseconds per operation, as one line of JSON. The Rust recorder's programs print the same.

#pragma once

#include <omnilink/recorder.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace measure {

// `cpu` is the time that a thread spent on a processor, `wall` the time that passed. If other programs run at the
// same time, the first is the fair one, but it excludes waiting for a lock.
struct Times {
  double cpu;
  double wall;
};

// Keeps the compiler from removing unused values.
template <class T>
void keep(const T& value) {
  __asm__ __volatile__("" : : "g"(&value) : "memory");
}

inline double read(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Runs `step(own, i)` for each operation on each thread, where `own` is the result of `make(thread)`. The slowest
// thread counts.
template <class Make, class Step>
Times once(std::size_t threads, std::int64_t operations, const Make& make, const Step& step) {
  std::vector<Times> times(threads);
  std::atomic<std::size_t> waiting{0};
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      auto own = make(thread);
      waiting.fetch_add(1);
      while (waiting.load() < threads) std::this_thread::yield();
      const double cpu = read(CLOCK_THREAD_CPUTIME_ID);
      const double wall = read(CLOCK_MONOTONIC);
      for (std::int64_t i = 0; i < operations; ++i) step(own, i);
      const auto count = static_cast<double>(operations);
      times[thread] = {(read(CLOCK_THREAD_CPUTIME_ID) - cpu) / count, (read(CLOCK_MONOTONIC) - wall) / count};
    });
  }
  for (std::thread& thread : running) thread.join();
  Times slowest{};
  for (const Times& time : times) slowest = {std::max(slowest.cpu, time.cpu), std::max(slowest.wall, time.wall)};
  return slowest;
}

// The best of five runs.
template <class Run>
Times best(const Run& run) {
  Times best = run();
  for (int i = 1; i < 5; ++i) {
    const Times next = run();
    best = {std::min(best.cpu, next.cpu), std::min(best.wall, next.wall)};
  }
  return best;
}

// The same, each with its own recorder.
template <class Run>
Times best_recorded(const Run& run) {
  const auto directory = std::filesystem::temp_directory_path() / ("omnilink-cost-" + std::to_string(::getpid()));
  const Times times = best([&] {
    const Times next = run(omnilink::Recorder::create(directory));
    std::filesystem::remove_all(directory);
    return next;
  });
  return times;
}

class Report {
 public:
  void add(const char* name, std::size_t threads, Times times) {
    char text[200];
    std::snprintf(text, sizeof text, "%s{\"case\": \"%s\", \"threads\": %zu, \"cpu\": %.1f, \"wall\": %.1f}",
                  cases_.empty() ? "" : ", ", name, threads, times.cpu, times.wall);
    cases_ += text;
  }

  void print() const {
    const char* const clock = omnilink::Clock::best().is_counter() ? "tsc" : "monotonic";
    std::printf("{\"unit\": \"ns\", \"clock\": \"%s\", \"cases\": [%s]}\n", clock, cases_.c_str());
  }

 private:
  std::string cases_;
};

}  // namespace measure
