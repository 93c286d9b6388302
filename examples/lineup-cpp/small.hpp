// Small objects, each correct and with one mistake that `omnilink lineup` finds without a specification. `is_right`
// chooses.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "omnilink/drive.hpp"

// A counter behind a lock. A `get` that finds the lock taken waits for it on another path, and the wrong one never
// unlocks there: the next operation of another thread is stuck.
template <bool is_right>
class Counter {
 public:
  void inc() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }

  int get() {
    if (mutex_.try_lock()) {
      const int count = count_;
      mutex_.unlock();
      return count;
    }
    mutex_.lock();
    const int count = count_;
    if (is_right) mutex_.unlock();
    return count;
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
};

// A queue behind a lock. The wrong `try_take` gives up if another thread holds the lock, and says that the queue is empty.
template <bool is_right>
class Queue {
 public:
  void add(int value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(value);
  }

  std::optional<int> try_take() {
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (is_right) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return std::nullopt;
    }
    if (values_.empty()) return std::nullopt;
    const int value = values_.front();
    values_.pop_front();
    return value;
  }

 private:
  std::mutex mutex_;
  std::deque<int> values_;
};

// An event that stays set until it is reset. One word holds whether it is set and the number of threads that wait, so that
// `set` locks only if there are any. The wrong `wait` reads the word again before it exchanges it: a `set` between the
// two reads is lost, because it saw no thread that waits, and the exchange takes back that the event is set.
template <bool is_right>
class Event {
 public:
  void set() {
    if (state_.fetch_or(is_set) < one_waiter) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    changed_.notify_all();
  }

  void reset() { state_.fetch_and(~is_set); }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const unsigned seen = state_.load();
      if ((seen & is_set) != 0) return;
      unsigned expected = is_right ? seen : state_.load();
      if (state_.compare_exchange_strong(expected, seen + one_waiter)) break;
    }
    while ((state_.load() & is_set) == 0) changed_.wait(lock);
    state_.fetch_sub(one_waiter);
  }

 private:
  static constexpr unsigned is_set = 1;
  static constexpr unsigned one_waiter = 2;

  std::atomic<unsigned> state_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

// A bag, from which `take` returns any element: it is not deterministic, so it cannot be its own specification. The other
// one returns the element that was added last.
template <bool is_right>
class Bag {
 public:
  void add(int value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_.push_back(value);
  }

  std::optional<int> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (values_.empty()) return std::nullopt;
    const std::size_t last = values_.size() - 1;
    std::swap(values_[is_right ? last : any(values_.size())], values_[last]);
    const int value = values_[last];
    values_.pop_back();
    return value;
  }

 private:
  // Bags share it, so equal bags differ.
  static std::size_t any(std::size_t count) {
    static std::atomic<std::uint64_t> draws{0};
    return static_cast<std::size_t>(omnilink::SplitMix(draws.fetch_add(1)).below(count));
  }

  std::mutex mutex_;
  std::vector<int> values_;
};
