// A counter with two locks, which its calls take in different orders.

#include <mutex>

#include "operations.hpp"

struct Subject : operations::Defaults {
  struct Session {};
  std::mutex first, second;
  std::int64_t count = 0;

  Session session(std::size_t /*thread*/) { return {}; }

  std::int64_t add(Session& /*session*/) {
    std::lock_guard<std::mutex> outer(first);
    std::lock_guard<std::mutex> inner(second);
    return count++;
  }

  std::int64_t get(Session& /*session*/) {
    std::lock_guard<std::mutex> outer(second);
    std::lock_guard<std::mutex> inner(first);
    return count;
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
