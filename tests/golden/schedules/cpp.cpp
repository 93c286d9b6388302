// A counter that loses updates: another thread may add between the load and the store.

#include <atomic>

#include "operations.hpp"

struct Subject : operations::Defaults {
  struct Session {};
  std::atomic<std::int64_t> count{0};

  Session session(std::size_t /*thread*/) { return {}; }

  std::int64_t add(Session& /*session*/) {
    std::int64_t before = count.load();
    count.store(before + 1);
    return before;
  }

  std::int64_t get(Session& /*session*/) {
    return count.load();
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
