// The ways an execution can end, chosen by the variable `HOW`.

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <vector>

namespace {

std::mutex left, right;
std::atomic<bool> flag;
std::atomic<int> number;

// Waits in the kernel without the C library, unobserved by the runtime.
void sleep_unseen() {
  const timespec time{60, 0};
  long answer = SYS_nanosleep;
  asm volatile("syscall" : "+a"(answer) : "D"(&time), "S"(nullptr) : "rcx", "r11", "memory");
}

void compute() {
  volatile int result = 0;
  while (true) result = result + 1;
}

}  // namespace

// Named functions, to recognize a stack.
extern "C" {

__attribute__((noinline)) void left_then_right() {
  const std::lock_guard<std::mutex> first(left);
  const std::lock_guard<std::mutex> second(right);
  number.fetch_add(1);
}

__attribute__((noinline)) void right_then_left() {
  const std::lock_guard<std::mutex> first(right);
  const std::lock_guard<std::mutex> second(left);
  number.fetch_add(1);
}

__attribute__((noinline)) void spin() {
  while (!flag.load()) {
  }
}

__attribute__((noinline)) void write_to_nowhere() {
  number.store(1);
  *static_cast<volatile int*>(nullptr) = 1;
}

}

int main() {
  const char* variable = std::getenv("HOW");
  const std::string_view how = variable != nullptr ? variable : "";
  std::vector<std::thread> threads;
  if (how == "deadlock") {
    threads.emplace_back(left_then_right);
    threads.emplace_back(right_then_left);
  } else if (how == "livelock") {
    threads.emplace_back(spin);
  } else if (how == "sleep") {
    threads.emplace_back(sleep_unseen);
  } else if (how == "compute") {
    threads.emplace_back(compute);
  } else if (how == "crash") {
    threads.emplace_back(write_to_nowhere);
  } else if (how == "threads") {
    for (int i = 0; i < 64; ++i) threads.emplace_back([] { number.fetch_add(1); });
  } else {
    threads.emplace_back([] { number.fetch_add(1); });
  }
  for (std::thread& thread : threads) thread.join();
}
