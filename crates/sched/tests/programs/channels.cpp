// Ways to pass information between threads without shared memory: `channels clock|deadline|random`. The ending shows
// what was passed.

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <string>
#include <sys/random.h>
#include <thread>
#include <unistd.h>

long reading() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

// Two readings around a private update: another thread's reading in between shows.
void clock_around(std::atomic<int>& mine, std::atomic<int>& disturbed) {
  const long before = reading();
  mine.fetch_add(1);
  if (reading() - before > 1500) disturbed.fetch_add(1);
}

int main(int, char** arguments) {
  const std::string what = arguments[1];
  struct alignas(64) Cell {
    std::atomic<int> n{0};
  } cells[2];
  std::atomic<int> said{0};
  if (what == "clock") {
    std::thread first([&] { clock_around(cells[0].n, said); }), second([&] { clock_around(cells[1].n, said); });
    first.join();
    second.join();
  } else if (what == "deadline") {
    // Which thread wakes first depends on how often the other one read the clock before.
    const auto wake = [&](int name) {
      int none = 0;
      said.compare_exchange_strong(none, name);
    };
    std::thread first([&] {
      usleep(10);
      wake(1);
    });
    std::thread second([&] {
      for (int i = 0; i < 3; ++i) reading();
      usleep(8);
      wake(2);
    });
    first.join();
    second.join();
  } else if (what == "random") {
    // The draws are stored, so they appear in the steps.
    std::atomic<unsigned> drawn[2]{0, 0};
    const auto draw = [&](int thread) {
      unsigned value;
      for (int i = 0; i < 2; ++i) {
        getrandom(&value, sizeof value, 0);
        drawn[thread].store(value);
      }
    };
    std::thread first(draw, 0), second(draw, 1);
    first.join();
    second.join();
  }
  return said;
}
