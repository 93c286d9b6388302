// Records as fast as possible until it ends, in one of seven ways. For tests of crash safety.
//
//   victim DIR THREADS HOW MICROSECONDS
//
// HOW is `sigkill` (waits to be killed), `segv`, `abort`, `panic` (of each thread, inside a call), `exit`, `_exit` or
// `return`. The first argument of each call is a counter of its thread, so a reader sees whether one is missing. Each
// thread also counts, in the mapped file DIR/progress, the calls and the outcomes that it has published: two
// little-endian integers of 64 bits for each thread. The Rust recorder has the same program.

#include <omnilink/recorder.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

namespace {

constexpr omnilink::Action STEP{"Step", {"counter", "text"}, {"square"}};
constexpr omnilink::Action OTHER{"Other", {"counter"}};

std::atomic<bool> is_told_to_panic{false};
std::atomic<bool> is_told_to_stop{false};

struct Progress {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> finished;
};

// Counters that outlive this program.
Progress* map_progress(const std::string& path, std::size_t threads) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const std::size_t length = threads * sizeof(Progress);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(length)) != 0) throw std::runtime_error("no file for progress");
  void* const base = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) throw std::runtime_error("no mapping for progress");
  return static_cast<Progress*>(base);
}

void work(omnilink::Process process, Progress& progress) {
  for (std::uint64_t counter = 0; !is_told_to_stop.load(std::memory_order_relaxed); ++counter) {
    std::string text;
    for (int i = 0; counter % 17 == 2 && i < 60; ++i) text += "long ";
    auto call = process.call(STEP, counter, text);
    progress.begun.store(counter + 1, std::memory_order_release);
    if (is_told_to_panic.load(std::memory_order_relaxed)) throw std::runtime_error("told to panic");
    if (counter % 11 == 5) call.meta("note", counter);
    switch (counter % 13) {
      case 3: call.done_as(OTHER, std::tuple(counter), std::tuple()); break;
      case 7: call.failed(); break;
      case 9: call.refine_start(); [[fallthrough]];
      default: call.done(counter % 1000);
    }
    progress.finished.store(counter + 1, std::memory_order_release);
  }
}

void end(std::string_view how) {
  while (how == "sigkill") ::pause();
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "abort") std::abort();
  if (how == "panic") is_told_to_panic = true;
  if (how == "exit") std::exit(3);
  if (how == "_exit") ::_exit(4);
  if (how == "return") is_told_to_stop = true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::cerr << "usage: victim DIR THREADS HOW MICROSECONDS\n";
    return 2;
  }
  const std::string directory = arguments[1];
  const auto threads = static_cast<std::size_t>(std::stoul(arguments[2]));
  const omnilink::Recorder recorder = omnilink::Recorder::create(directory);
  Progress* const progress = map_progress(directory + "/progress", threads);
  std::vector<std::thread> workers;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back(work, recorder.process(std::to_string(thread)), std::ref(progress[thread]));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(std::stoul(arguments[4])));
  end(arguments[3]);
  for (std::thread& worker : workers) worker.join();
  return 0;
}
