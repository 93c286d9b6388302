// Objects of the standard library, Boost and moodycamel, behind methods that can be called from any thread in any
// order. Preconditions of the original hold all the same.

#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <barrier>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stop_token>

// A small first block: making a queue is part of every execution.
struct Moodycamel {
  moodycamel::ConcurrentQueue<int> queue{32};

  bool enqueue(int value) { return queue.enqueue(value); }
  std::optional<int> try_dequeue() {
    int value = 0;
    return queue.try_dequeue(value) ? std::optional(value) : std::nullopt;
  }
};

struct BlockingMoodycamel {
  moodycamel::BlockingConcurrentQueue<int> queue{32};

  bool enqueue(int value) { return queue.enqueue(value); }
  std::optional<int> try_dequeue() {
    int value = 0;
    return queue.try_dequeue(value) ? std::optional(value) : std::nullopt;
  }
  int wait_dequeue() {
    int value = 0;
    queue.wait_dequeue(value);
    return value;
  }
};

// Of two elements, so that it is full sometimes.
struct BoostQueue {
  boost::lockfree::queue<int, boost::lockfree::capacity<2>> queue;

  bool push(int value) { return queue.bounded_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue.pop(value) ? std::optional(value) : std::nullopt;
  }
};

struct BoostStack {
  boost::lockfree::stack<int, boost::lockfree::capacity<2>> stack;

  bool push(int value) { return stack.bounded_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return stack.pop(value) ? std::optional(value) : std::nullopt;
  }
};

// One thread at a time may push, and one at a time may pop: that is what the two locks are for.
struct BoostSpsc {
  boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> queue;
  std::mutex pushing;
  std::mutex popping;

  bool push(int value) {
    const std::lock_guard lock(pushing);
    return queue.push(value);
  }
  std::optional<int> pop() {
    const std::lock_guard lock(popping);
    int value = 0;
    return queue.pop(value) ? std::optional(value) : std::nullopt;
  }
};

struct Semaphore {
  std::counting_semaphore<> semaphore{1};

  void acquire() { semaphore.acquire(); }
  void release() { semaphore.release(); }
  // May fail for no reason, by the standard.
  bool try_acquire() { return semaphore.try_acquire(); }
};

// Counts down from 2, and no further: more calls only wait for these.
struct Latch {
  std::latch latch{2};
  std::atomic<int> calls{0};

  void count_down() {
    if (calls.fetch_add(1) < 2) return latch.count_down();
    latch.wait();
  }
  // May fail for no reason, by the standard.
  bool try_wait() const { return latch.try_wait(); }
  void wait() const { latch.wait(); }
};

// For two threads. Neither returns before the other has arrived, which is not linearizable, and is meant so.
struct Barrier {
  std::barrier<> barrier{2};

  void arrive_and_wait() { barrier.arrive_and_wait(); }
};

// A queue whose `take` waits for an element.
class BlockingQueue {
 public:
  void add(int value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(value);
    added_.notify_one();
  }

  int take() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return !values_.empty(); });
    return first();
  }

  std::optional<int> try_take() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return std::nullopt;
    return first();
  }

 private:
  int first() {
    const int value = values_.front();
    values_.pop_front();
    return value;
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<int> values_;
};

// The same, until it is stopped: then `take` returns without an element if there is none.
class StoppableQueue {
 public:
  void add(int value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(value);
    added_.notify_one();
  }

  std::optional<int> take() {
    std::unique_lock lock(mutex_);
    if (!added_.wait(lock, stop_.get_token(), [this] { return !values_.empty(); })) return std::nullopt;
    const int value = values_.front();
    values_.pop_front();
    return value;
  }

  // True for the first.
  bool stop() { return stop_.request_stop(); }

 private:
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<int> values_;
};
