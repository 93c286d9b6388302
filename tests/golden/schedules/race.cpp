// A counter without a lock.

#include "operations.hpp"

struct Subject : operations::Defaults {
  struct Session {};
  std::int64_t count = 0;

  Session session(std::size_t /*thread*/) { return {}; }

  std::int64_t add(Session& /*session*/) {
    return count++;
  }

  std::int64_t get(Session& /*session*/) {
    return count;
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
