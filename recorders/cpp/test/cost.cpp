// What recording costs: nanoseconds per operation, one JSON object in one line.
//
//   cost [OPERATIONS]
//
// Each thread runs a loop of its own. `empty` is the loop alone; `recorded` an operation with three arguments and one
// result; `clock` the two readings of the clock that any recorder needs; `mutex` the same operation pushed to a vector
// behind a mutex, which is what people write by hand. The best of five runs counts: everything else is other programs.

#include <omnilink/drive.hpp>

#include <cstdio>
#include <filesystem>
#include <mutex>

namespace {

using Nanoseconds = double;

constexpr omnilink::Action CAS{"Cas", {"key", "old", "new"}, {"ok"}};

template <class T>
void keep(T&& value) {
  __asm__ __volatile__("" : : "g"(&value) : "memory");
}

// The processor time that the calling thread has used, so that other programs do not count.
Nanoseconds time_of_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Runs `work(thread, operations)` on so many threads, and returns how long an operation took them on average.
template <class Work>
Nanoseconds measure(std::size_t threads, std::size_t operations, const Work& work) {
  std::vector<Nanoseconds> times(threads);
  std::atomic<std::size_t> waiting{0};
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      waiting.fetch_add(1);
      while (waiting.load() < threads) std::this_thread::yield();
      const Nanoseconds start = time_of_thread();
      work(thread, operations);
      times[thread] = (time_of_thread() - start) / static_cast<double>(operations);
    });
  }
  for (std::thread& thread : running) thread.join();
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(threads);
}

void empty(std::size_t operations) {
  for (std::size_t i = 0; i < operations; ++i) keep(i);
}

void read_clock(std::size_t operations) {
  const omnilink::Clock clock = omnilink::Clock::best();
  for (std::size_t i = 0; i < operations; ++i) {
    keep(clock.start());
    keep(clock.end());
  }
}

void record(omnilink::Process process, std::size_t operations) {
  for (std::size_t i = 0; i < operations; ++i) {
    keep(i);
    auto call = process.call(CAS, i & 1023, i, i + 1);
    call.done(true);
  }
}

// What the hand-written recorder keeps.
struct Row {
  std::size_t process;
  std::uint64_t start, end;
  std::size_t key, old, fresh;
  bool ok;
};

struct Shared {
  std::mutex mutex;
  std::vector<Row> rows;
};

void push(Shared& shared, std::size_t process, std::size_t operations) {
  const omnilink::Clock clock = omnilink::Clock::best();
  for (std::size_t i = 0; i < operations; ++i) {
    const std::uint64_t start = clock.start();
    keep(i);
    const std::uint64_t end = clock.end();
    const std::lock_guard<std::mutex> lock(shared.mutex);
    shared.rows.push_back({process, start, end, i & 1023, i, i + 1, true});
  }
}

Nanoseconds recorded(std::size_t threads, std::size_t operations) {
  const std::string directory = std::filesystem::temp_directory_path() / ("omnilink-cost-" + std::to_string(::getpid()));
  const omnilink::Recorder recorder = omnilink::Recorder::create(directory);
  const Nanoseconds time = measure(threads, operations, [&](std::size_t thread, std::size_t count) {
    record(recorder.process(std::to_string(thread)), count);
  });
  std::filesystem::remove_all(directory);
  return time;
}

template <class Run>
Nanoseconds best_of_five(const Run& run) {
  Nanoseconds best = run();
  for (int i = 1; i < 5; ++i) best = std::min(best, run());
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t operations = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
  std::printf("{\"language\": \"C++\", \"clock\": \"%s\"", omnilink::Clock::best().is_counter() ? "tsc" : "monotonic");
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    const auto print = [&](const char* name, const auto& run) {
      std::printf(", \"%s/%zu\": %.1f", name, threads, best_of_five(run));
    };
    print("empty", [&] { return measure(threads, operations, [](std::size_t, std::size_t n) { empty(n); }); });
    print("recorded", [&] { return recorded(threads, operations); });
    print("clock", [&] { return measure(threads, operations, [](std::size_t, std::size_t n) { read_clock(n); }); });
    print("mutex", [&] {
      Shared shared;
      return measure(threads, operations, [&](std::size_t thread, std::size_t n) { push(shared, thread, n); });
    });
  }
  std::printf("}\n");
  return 0;
}
