// A seqlock without its fences: under weak memory, a reader sees halves of two writes.

#include <atomic>
#include "operations.hpp"

using namespace std;

struct Subject : operations::Defaults {
  struct Session {};
  atomic<uint64_t> sequence{0};
  atomic<int64_t> first{0}, second{0};

  Session session(size_t /*thread*/) { return {}; }

  void write(Session& /*session*/, int64_t value) {
    uint64_t before = sequence.load(memory_order_relaxed);
    do
      while (before & 1) before = sequence.load(memory_order_relaxed);
    while (!sequence.compare_exchange_weak(before, before + 1, memory_order_acquire, memory_order_relaxed));
    first.store(value, memory_order_relaxed);
    second.store(value, memory_order_relaxed);
    sequence.store(before + 2, memory_order_release);
  }

  operations::Read read(Session& /*session*/) {
    for (;;) {
      uint64_t before = sequence.load(memory_order_acquire);
      int64_t a = first.load(memory_order_relaxed), b = second.load(memory_order_relaxed);
      if (!(before & 1) && sequence.load(memory_order_relaxed) == before) return {a, b};
    }
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
