// Makes the calls of `Queue.tla` on a queue, from several threads, and records them.
//
// The queue is a small one that works, so that you see a run before you change anything. To check your own, replace the
// parts marked 1, 2 and 3. Calls are drawn and recorded in `operations.hpp`.

#include "operations.hpp"

#include <deque>
#include <mutex>

// 1. The queue under test.
struct Subject : operations::Defaults {
  std::mutex mutex;
  std::deque<std::int64_t> queue;

  // The state of a thread.
  struct Session {};

  Session session(std::size_t /*thread*/) { return {}; }

  // 2. Puts an element in.
  void enqueue(Session& /*session*/, std::int64_t elem) {
    const std::lock_guard guard(mutex);
    queue.push_back(elem);
  }

  // 3. Takes an element out, if there is one.
  operations::Dequeue dequeue(Session& /*session*/) {
    const std::lock_guard guard(mutex);
    if (queue.empty()) return operations::DequeueEmpty{};
    const std::int64_t elem = queue.front();
    queue.pop_front();
    return operations::DequeueDone{elem};
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
