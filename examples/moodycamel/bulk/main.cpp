// Makes the calls of `Bulk.tla` on a moodycamel::ConcurrentQueue, from several threads, and records them.
//
// Threads put in without tokens, so the queue knows a producer by its thread. Blocks are small, so that few elements fill
// and empty them. Calls are drawn and recorded in
// `operations.hpp`.
//
//   bulk        the queue is asked for as many elements as are drawn, even for none
//   bulk some   the queue is never asked for none: such a call is answered without it

#include "operations.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <string_view>

struct Small : moodycamel::ConcurrentQueueDefaultTraits {
  static const std::size_t BLOCK_SIZE = 4;
  static const std::size_t IMPLICIT_INITIAL_INDEX_SIZE = 4;
  static const std::size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 8;
};

// The system under test.
struct Subject : operations::Defaults {
  moodycamel::ConcurrentQueue<std::int64_t, Small> queue;
  bool asks_for_none;

  explicit Subject(bool asks_for_none) : asks_for_none(asks_for_none) {}

  // The data that a thread keeps for itself.
  struct Session {};

  Session session(std::size_t /*thread*/) { return {}; }

  // Numbered as `Batch` of the specification does it.
  void enqueue(Session& /*session*/, std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> batch;
    for (std::int64_t i = 1; i <= count; ++i) batch.push_back(16 * first + i);
    queue.enqueue_bulk(batch.begin(), batch.size());
  }

  std::vector<std::int64_t> dequeue(Session& /*session*/, std::int64_t max) {
    if (max == 0 && !asks_for_none) return {};
    std::vector<std::int64_t> batch(static_cast<std::size_t>(max));
    batch.resize(queue.try_dequeue_bulk(batch.begin(), batch.size()));
    return batch;
  }
};

int main(int argc, char** argv) {
  const bool asks_for_none = argc < 2 || std::string_view(argv[1]) != "some";
  omnilink::repeat([asks_for_none] {
    Subject subject(asks_for_none);
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
