// What operations and executions cost. The same program is built in several ways and measured from outside.
//
//   cost add THREADS TIMES     each thread adds to one number TIMES times
//   cost touch TIMES           one thread reads and writes memory without synchronization, TIMES times each
//   cost once THREADS          a small harness: each thread updates one number and looks at another
//   cost many THREADS TIMES    the same, TIMES times in one process; under control, until `LAST` is set

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

extern "C" {
__attribute__((weak)) int omnilink_sched_next(void);
__attribute__((weak)) int omnilink_sched_is_controlled(void);
}

namespace {

template <typename Body>
void together(int threads, Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(body);
  for (std::thread& thread : all) thread.join();
}

std::atomic<long> number;
std::atomic<long> other;

void add(int threads, long times) {
  together(threads, [=] {
    for (long i = 0; i < times; ++i) number.fetch_add(1);
  });
}

void touch(long times) {
  static volatile long memory[64];
  for (long i = 0; i < times; ++i) memory[i % 64] = memory[i % 64] + 1;
}

void harness(int threads) {
  number.store(0);
  together(threads, [] {
    number.fetch_add(1);
    other.store(number.load());
  });
}

void many(int threads, long times) {
  const bool is_controlled = omnilink_sched_is_controlled != nullptr && omnilink_sched_is_controlled();
  for (; is_controlled ? omnilink_sched_next() != 0 : times > 0; --times) {
    harness(threads);
    if (is_controlled && std::getenv("LAST") != nullptr) return;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  const long first = count > 2 ? std::atol(arguments[2]) : 1;
  const long second = count > 3 ? std::atol(arguments[3]) : 1;
  if (what == "add") {
    add(static_cast<int>(first), second);
  } else if (what == "touch") {
    touch(first);
  } else if (what == "once") {
    harness(static_cast<int>(first));
  } else if (what == "many") {
    many(static_cast<int>(first), second);
  } else {
    return 2;
  }
  return 0;
}
