// Threads that each increment the same number several times, by a load and a store: updates can be lost.
//
//   lost THREADS INCREMENTS
//
// Exits with 1 if an update was lost.

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 2;
  const int increments = count > 2 ? std::atoi(arguments[2]) : 1;
  std::atomic<int> number{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int j = 0; j < increments; ++j) {
        const int before = number.load();
        number.store(before + 1);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  return number.load() == threads * increments ? 0 : 1;
}
