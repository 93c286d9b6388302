// Three threads that enqueue to a moodycamel::ConcurrentQueue and dequeue from it: one with tokens, one without, and
// one in batches. Needs the Debian package libconcurrentqueue-dev.
//
// Blocks are small, so that few elements fill and empty them. Exits with 1 if an element is missing or duplicated.

#include <concurrentqueue/concurrentqueue.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

struct Small : moodycamel::ConcurrentQueueDefaultTraits {
  static const std::size_t BLOCK_SIZE = 4;
  static const std::size_t EXPLICIT_INITIAL_INDEX_SIZE = 4;
  static const std::size_t IMPLICIT_INITIAL_INDEX_SIZE = 4;
  static const std::size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 8;
};

using Queue = moodycamel::ConcurrentQueue<int, Small>;

constexpr int EACH = 6;

void with_tokens(Queue& queue, std::vector<int>& taken) {
  moodycamel::ProducerToken producer(queue);
  moodycamel::ConsumerToken consumer(queue);
  for (int i = 0; i < EACH; ++i) {
    queue.enqueue(producer, i);
    if (int element = 0; i % 2 == 1 && queue.try_dequeue(consumer, element)) taken.push_back(element);
  }
}

void without_tokens(Queue& queue, std::vector<int>& taken) {
  for (int i = 0; i < EACH; ++i) {
    queue.enqueue(EACH + i);
    if (int element = 0; i % 2 == 1 && queue.try_dequeue(element)) taken.push_back(element);
  }
}

void in_batches(Queue& queue, std::vector<int>& taken) {
  for (int i = 0; i < EACH; i += 3) {
    const std::array<int, 3> batch{2 * EACH + i, 2 * EACH + i + 1, 2 * EACH + i + 2};
    queue.enqueue_bulk(batch.begin(), batch.size());
    std::array<int, 4> haul{};
    const std::size_t count = queue.try_dequeue_bulk(haul.begin(), haul.size());
    taken.insert(taken.end(), haul.begin(), haul.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

}  // namespace

int main() {
  Queue queue;
  std::array<std::vector<int>, 3> taken;
  std::thread first([&] { with_tokens(queue, taken[0]); });
  std::thread second([&] { without_tokens(queue, taken[1]); });
  std::thread third([&] { in_batches(queue, taken[2]); });
  first.join();
  second.join();
  third.join();
  std::array<int, 3 * EACH> times{};
  for (const std::vector<int>& elements : taken) {
    for (const int element : elements) ++times[static_cast<std::size_t>(element)];
  }
  for (int element = 0; queue.try_dequeue(element);) ++times[static_cast<std::size_t>(element)];
  for (const int count : times) {
    if (count != 1) return 1;
  }
  return 0;
}
