// The cost of recording, compared with a lower bound and with code written by hand.
//
//   cost [OPERATIONS]
//
// Each case runs a million operations on each of one and two threads. An operation has three integer arguments and one
// result, and takes a start and an end, except in the empty loop.

#include "measure.hpp"

#include <mutex>

namespace {

using measure::keep;

constexpr omnilink::Action PUT{"Put", {"key", "value", "version"}, {"old"}};

// One operation as a program would keep it.
struct Operation {
  const char* action;
  std::uint64_t start, end;
  std::int64_t key, value, version, old;
};

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t operations = count > 1 ? std::stoll(arguments[1]) : 1'000'000;
  const omnilink::Clock clock = omnilink::Clock::best();
  measure::Report report;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    const auto once = [&](const auto& make, const auto& step) {
      return measure::once(threads, operations, make, step);
    };
    const auto nothing = [](std::size_t) { return 0; };
    report.add("empty loop", threads, measure::best([&] { return once(nothing, [](int&, std::int64_t i) { keep(i); }); }));

    report.add("record", threads, measure::best_recorded([&](const omnilink::Recorder& recorder) {
      return once([&](std::size_t thread) { return recorder.process(std::to_string(thread)); },
                  [](omnilink::Process& process, std::int64_t i) {
                    auto call = process.call(PUT, i & 63, i, i >> 3);
                    const std::int64_t old = i ^ 5;
                    keep(old);
                    call.done(old);
                  });
    }));

    report.add("two clock readings", threads, measure::best([&] {
      return once([&](std::size_t) { return clock; },
                  [](omnilink::Clock& own, std::int64_t) {
                    keep(own.start());
                    keep(own.end());
                  });
    }));

    report.add("mutex and vec", threads, measure::best([&] {
      std::mutex mutex;
      std::vector<Operation> shared;
      return once([&](std::size_t) { return clock; },
                  [&](omnilink::Clock& own, std::int64_t i) {
                    const std::uint64_t start = own.start();
                    const std::int64_t old = i ^ 5;
                    keep(old);
                    const std::uint64_t end = own.end();
                    const std::lock_guard<std::mutex> lock(mutex);
                    // As if the buffer were drained: growing is not measured.
                    if (shared.size() == shared.capacity() && shared.size() >= 1U << 16U) shared.clear();
                    shared.push_back({"Put", start, end, i & 63, i, i >> 3, old});
                  });
    }));
  }
  report.print();
  return 0;
}
