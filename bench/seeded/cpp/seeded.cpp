// Twelve seeded mistakes in C++, each with its correction, as harnesses for `omnilink fuzz` and objects for `omnilink lineup`.
//
//   seeded fuzz|lineup MISTAKE right|wrong

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include "omnilink/drive.hpp"
#include "omnilink/object.hpp"

namespace {

using Value = std::optional<long>;

// A queue says that it is empty while another thread holds its lock.
template <bool is_right>
struct WrongEmptyCheck {
  bool enqueue(long value) {
    const std::lock_guard lock(mutex);
    items.push_back(value);
    return true;
  }
  Value dequeue() {
    std::unique_lock lock(mutex, std::defer_lock);
    if (is_right) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return {};
    }
    if (items.empty()) return {};
    const long value = items.front();
    items.pop_front();
    return value;
  }
  std::mutex mutex;
  std::deque<long> items;
};

// A ring with a lock for each end. The mistakes are selected by `flaw`.
enum class Flaw { none, tearing_length, early_publish, weakened_ordering };

template <Flaw flaw>
struct Ring {
  static constexpr unsigned long size = 4;
  bool enqueue(long value) {
    const std::lock_guard lock(producers);
    const unsigned long place = tail.load(std::memory_order_relaxed);
    if (place - head.load(std::memory_order_acquire) == size) return false;
    if (flaw == Flaw::early_publish) tail.store(place + 1, std::memory_order_release);
    slots[place % size] = value;
    if (flaw == Flaw::weakened_ordering) tail.store(place + 1, std::memory_order_relaxed);
    if (flaw == Flaw::none || flaw == Flaw::tearing_length) tail.store(place + 1, std::memory_order_release);
    return true;
  }
  Value dequeue() {
    const std::lock_guard lock(consumers);
    const unsigned long place = head.load(std::memory_order_relaxed);
    if (place == tail.load(std::memory_order_acquire)) return {};
    const long value = slots[place % size];
    head.store(place + 1, std::memory_order_release);
    return value;
  }
  long len() {
    if (flaw != Flaw::tearing_length) {
      const std::scoped_lock both(producers, consumers);
      return static_cast<long>(tail - head);
    }
    const unsigned long first = head;
    return static_cast<long>(tail - first);
  }
  std::mutex producers, consumers;
  std::array<long, size> slots{};
  std::atomic<unsigned long> head{0}, tail{0};
};

// A stack of nodes from a pool takes a node for unchanged that was popped and pushed again in between.
template <bool is_right>
struct Aba {
  // More than an execution pushes.
  static constexpr unsigned long none = 63, tag = 64;
  Aba() {
    for (unsigned long node = 0; node < none; ++node) next[node] = node + 1;
  }
  bool push(long value) {
    const unsigned long node = take(unused);
    values[node].store(value);
    give(used, node);
    return true;
  }
  Value pop() {
    const unsigned long node = take(used);
    if (node == none) return {};
    const long value = values[node].load();
    give(unused, node);
    return value;
  }
  unsigned long take(std::atomic<unsigned long>& list) {
    for (unsigned long head = list;;) {
      const unsigned long node = head % tag;
      if (node == none) return none;
      if (list.compare_exchange_strong(head, changed(head, next[node]))) return node;
    }
  }
  void give(std::atomic<unsigned long>& list, unsigned long node) {
    for (unsigned long head = list;;) {
      next[node] = head % tag;
      if (list.compare_exchange_strong(head, changed(head, node))) return;
    }
  }
  static unsigned long changed(unsigned long head, unsigned long node) {
    return is_right ? (head / tag + 1) * tag + node : node;
  }
  std::atomic<unsigned long> used{none}, unused{0};
  std::array<std::atomic<unsigned long>, none> next;
  std::array<std::atomic<long>, none> values{};
};

// A buffer with room for one, whose waiting threads share a condition. It wakes one of them, or does not look again.
template <bool wakes_all, bool rechecks>
struct Buffer {
  void put(long value) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !item; });
    item = value;
    wake();
  }
  // A value that no thread puts in, if there is none.
  long take() {
    std::unique_lock lock(mutex);
    if (rechecks) {
      changed.wait(lock, [this] { return item.has_value(); });
    } else if (!item) {
      changed.wait(lock);
    }
    const long value = item.value_or(-1);
    item.reset();
    wake();
    return value;
  }
  void wake() { wakes_all ? changed.notify_all() : changed.notify_one(); }
  std::mutex mutex;
  std::condition_variable changed;
  Value item;
};

// Two threads take the same node of a stack, and both free it.
template <bool is_right>
struct DoubleFree {
  struct Node {
    long value;
    Node* next;
  };
  ~DoubleFree() {
    while (pop()) {
    }
  }
  bool push(long value) {
    Node* const node = new Node{value, nullptr};
    const std::lock_guard lock(mutex);
    node->next = head;
    head = node;
    return true;
  }
  Value pop() {
    std::unique_lock lock(mutex);
    Node* const node = head;
    if (!node) return {};
    if (!is_right) {
      // What is shown is that the lock is released too early, not that the list breaks.
      lock.unlock();
      lock.lock();
      if (head == node) head = node->next;
    } else {
      head = node->next;
    }
    lock.unlock();
    const long value = node->value;
    delete node;
    return value;
  }
  std::mutex mutex;
  Node* head = nullptr;
};

// An old version is freed while a reader may have it.
template <bool is_right>
struct UseAfterFree {
  ~UseAfterFree() {
    delete current.load();
    for (const long* version : old) delete version;
  }
  void write(long value) {
    const long* const before = current.exchange(new long(value));
    if (!is_right) {
      delete before;
      return;
    }
    const std::lock_guard lock(mutex);
    old.push_back(before);
  }
  long read() { return *current.load(); }
  std::atomic<const long*> current{new long(0)};
  std::mutex mutex;
  std::deque<const long*> old;
};

// Two threads take two locks in different orders.
template <bool is_right>
struct LockOrder {
  bool transfer(long from, long to) {
    std::unique_lock first(mutex[is_right ? std::min(from, to) : from]);
    std::unique_lock second(mutex[is_right ? std::max(from, to) : to]);
    if (balance[from] == 0) return false;
    --balance[from];
    ++balance[to];
    return true;
  }
  std::array<std::mutex, 2> mutex;
  std::array<long, 2> balance{10, 10};
};

// A counter is read, and then written.
template <bool is_right>
struct ReadModifyWrite {
  long add(long number) {
    if (is_right) return count.fetch_add(number) + number;
    const long sum = count + number;
    count = sum;
    return sum;
  }
  std::atomic<long> count{0};
};

// A reader of a sequence lock may read new data between old numbers.
template <bool is_right>
struct SeqlockWithoutFences {
  void write(long value) {
    const std::lock_guard lock(mutex);
    const unsigned long before = number.load(std::memory_order_relaxed);
    number.store(before + 1, std::memory_order_relaxed);
    if (is_right) std::atomic_thread_fence(std::memory_order_release);
    one.store(value, std::memory_order_relaxed);
    two.store(value, std::memory_order_relaxed);
    number.store(before + 2, std::memory_order_release);
  }
  // A value that no thread wrote, if the halves differ.
  long read() {
    for (;;) {
      const unsigned long before = number.load(std::memory_order_acquire);
      const long first = one.load(std::memory_order_relaxed), second = two.load(std::memory_order_relaxed);
      if (is_right) std::atomic_thread_fence(std::memory_order_acquire);
      if (before % 2 == 0 && number.load(std::memory_order_relaxed) == before) return first == second ? first : -1;
    }
  }
  std::mutex mutex;
  std::atomic<unsigned long> number{0};
  std::atomic<long> one{0}, two{0};
};

constexpr omnilink::Action ENQUEUE{"enqueue", {"value"}, {"ok"}}, DEQUEUE{"dequeue", {}, {"value"}}, LEN{"len", {}, {"count"}};
constexpr omnilink::Action PUSH{"push", {"value"}, {"ok"}}, POP{"pop", {}, {"value"}};
constexpr omnilink::Action PUT{"Put", {"value"}}, TAKE{"Take", {}, {"value"}};
constexpr omnilink::Action WRITE{"write", {"value"}}, READ{"read", {}, {"value"}};
constexpr omnilink::Action TRANSFER{"transfer", {"from", "to", "amount"}, {"ok"}}, ADD{"add", {"delta"}, {"value"}};

// One random operation of an object, recorded. What an object can do decides which.
template <class Object>
void step(Object& object, omnilink::Client& client) {
  const bool is_first = client.draw().below(2) == 0;
  const long value = static_cast<long>(client.draw().fresh());
  if constexpr (requires { object.len(); }) {
    if (client.draw().below(3) == 0) {
      auto call = client.call(LEN);
      call.done(object.len());
      return;
    }
  }
  if constexpr (requires { object.enqueue(value); }) {
    auto call = is_first ? client.call(ENQUEUE, value) : client.call(DEQUEUE);
    is_first ? call.done(object.enqueue(value)) : call.done(object.dequeue());
  } else if constexpr (requires { object.push(value); }) {
    auto call = is_first ? client.call(PUSH, value) : client.call(POP);
    is_first ? call.done(object.push(value)) : call.done(object.pop());
  } else if constexpr (requires { object.put(value); }) {
    auto call = is_first ? client.call(PUT, value) : client.call(TAKE);
    if (is_first) {
      object.put(value);
      call.done();
    } else {
      call.done(object.take());
    }
  } else if constexpr (requires { object.write(value); }) {
    auto call = is_first ? client.call(WRITE, value) : client.call(READ);
    if (is_first) {
      object.write(value);
      call.done();
    } else {
      call.done(object.read());
    }
  } else if constexpr (requires { object.transfer(0, 1); }) {
    const long from = is_first ? 0 : 1;
    auto call = client.call(TRANSFER, from, 1 - from, 1);
    call.done(object.transfer(from, 1 - from));
  } else {
    auto call = client.call(ADD, 1);
    call.done(object.add(1));
  }
}

template <class Object>
int fuzz() {
  omnilink::repeat([] {
    Object object;
    omnilink::run(
        omnilink::Plan::from_env(), object, [](Object&, std::size_t) { return 0; },
        [](Object& shared, int, omnilink::Client& client) { step(shared, client); });
  });
  return 0;
}

template <class Object>
int lineup() {
  if constexpr (requires(Object object) { object.len(); }) {
    return omnilink::object<Object>()
        .call("enqueue", &Object::enqueue, 1, 2)
        .call("dequeue", &Object::dequeue)
        .call("len", &Object::len)
        .main();
  } else if constexpr (requires(Object object) { object.enqueue(1); }) {
    return omnilink::object<Object>().call("enqueue", &Object::enqueue, 1, 2).call("dequeue", &Object::dequeue).main();
  } else if constexpr (requires(Object object) { object.push(1); }) {
    return omnilink::object<Object>().call("push", &Object::push, 1, 2).call("pop", &Object::pop).main();
  } else if constexpr (requires(Object object) { object.put(1); }) {
    return omnilink::object<Object>().call("put", &Object::put, 1, 2).call("take", &Object::take).main();
  } else if constexpr (requires(Object object) { object.write(1); }) {
    return omnilink::object<Object>().call("write", &Object::write, 1, 2).call("read", &Object::read).main();
  } else if constexpr (requires(Object object) { object.add(1); }) {
    return omnilink::object<Object>().call("add", &Object::add, 1).main();
  } else {
    return omnilink::object<Object>()
        .call("forth", +[](Object& object) { return object.transfer(0, 1); })
        .call("back", +[](Object& object) { return object.transfer(1, 0); })
        .main();
  }
}

template <class Object>
int run(std::string_view mode) {
  return mode == "lineup" ? lineup<Object>() : fuzz<Object>();
}

template <bool is_right>
int choose(std::string_view mode, std::string_view mistake) {
  if (mistake == "wrong_empty_check") return run<WrongEmptyCheck<is_right>>(mode);
  if (mistake == "tearing_length") return run<Ring<is_right ? Flaw::none : Flaw::tearing_length>>(mode);
  if (mistake == "early_publish") return run<Ring<is_right ? Flaw::none : Flaw::early_publish>>(mode);
  if (mistake == "weakened_ordering") return run<Ring<is_right ? Flaw::none : Flaw::weakened_ordering>>(mode);
  if (mistake == "aba") return run<Aba<is_right>>(mode);
  if (mistake == "lost_wake_up") return run<Buffer<is_right, true>>(mode);
  if (mistake == "missing_recheck") return run<Buffer<true, is_right>>(mode);
  if (mistake == "double_free") return run<DoubleFree<is_right>>(mode);
  if (mistake == "use_after_free") return run<UseAfterFree<is_right>>(mode);
  if (mistake == "lock_order") return run<LockOrder<is_right>>(mode);
  if (mistake == "read_modify_write") return run<ReadModifyWrite<is_right>>(mode);
  if (mistake == "seqlock_without_fences") return run<SeqlockWithoutFences<is_right>>(mode);
  std::fputs("error: this mistake is not known\n", stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("error: expected `fuzz` or `lineup`, a mistake, and `right` or `wrong`\n", stderr);
    return 2;
  }
  const std::string_view mode = arguments[1], mistake = arguments[2];
  return arguments[3] == std::string_view("right") ? choose<true>(mode, mistake) : choose<false>(mode, mistake);
}
