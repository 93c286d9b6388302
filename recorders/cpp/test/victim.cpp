// Records without pause until it dies, and leaves a note of what it had published by then.
//
//   victim DIR WAY SEED       WAY: sigkill segv abort panic exit _exit return
//
// Two threads call `Op` with 0, 1, 2 and so on, and get the same number back. A thread notes how many calls it has
// published, and how many returns, in `DIR/published`: for each thread two 64-bit numbers, little-endian, returns
// first. That file is a shared mapping, too, and is written behind the recorder's back, so whoever reads it knows what
// must be in the trace at least. After up to 20 milliseconds the program ends in the given way, in the middle of it all.

#include <omnilink/drive.hpp>

#include <csignal>
#include <iostream>

namespace {

constexpr omnilink::Action OP{"Op", {"n"}, {"n"}};
constexpr std::size_t threads = 2;

struct Published {
  std::atomic<std::uint64_t> returns;
  std::atomic<std::uint64_t> calls;
};

Published* note(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (file < 0 || ::ftruncate(file, threads * sizeof(Published)) != 0) std::abort();
  void* const base = ::mmap(nullptr, threads * sizeof(Published), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) std::abort();
  return static_cast<Published*>(base);
}

void record(omnilink::Process process, Published& published, const std::atomic<bool>& is_over) {
  for (std::uint64_t n = 0; !is_over.load(std::memory_order_relaxed); ++n) {
    auto call = process.call(OP, n);
    published.calls.store(n + 1, std::memory_order_release);
    call.done(n);
    published.returns.store(n + 1, std::memory_order_release);
  }
}

void die(std::string_view way) {
  if (way == "sigkill") ::kill(::getpid(), SIGKILL);
  if (way == "segv") *static_cast<volatile int*>(nullptr) = 0;
  if (way == "abort") std::abort();
  if (way == "panic") throw std::runtime_error("nobody catches this");
  if (way == "exit") std::exit(0);
  if (way == "_exit") ::_exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: victim DIR WAY SEED\n";
    return 2;
  }
  const std::string directory = arguments[1];
  const omnilink::Recorder recorder = omnilink::Recorder::create(directory);
  Published* const published = note(directory + "/published");
  std::atomic<bool> is_over{false};
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back(
        [&, thread] { record(recorder.process(std::to_string(thread)), published[thread], is_over); });
  }
  omnilink::SplitMix draw(std::strtoull(arguments[3], nullptr, 10));
  std::this_thread::sleep_for(std::chrono::microseconds(draw.below(20'000)));
  die(arguments[2]);
  is_over.store(true);
  for (std::thread& thread : running) thread.join();
  return 0;
}
