// Makes the calls of `Register.tla` on a register, from several threads, and records them.
//
// The register is a small one that works, so that you see a run before you change anything. To check your own, replace
// the parts marked 1 to 4. Calls are drawn and recorded in `operations.hpp`.

#include "operations.hpp"

#include <mutex>

// 1. The register under test.
struct Subject : operations::Defaults {
  std::mutex mutex;
  std::int64_t holds = 0;

  // The state of a thread.
  struct Session {};

  Session session(std::size_t /*thread*/) { return {}; }

  // 2. Returns the value of the register.
  std::int64_t read(Session& /*session*/) {
    const std::lock_guard guard(mutex);
    return holds;
  }

  // 3. Writes a value.
  void write(Session& /*session*/, std::int64_t value) {
    const std::lock_guard guard(mutex);
    holds = value;
  }

  // 4. Writes `desired` if the register holds `expected`, and returns whether it did.
  bool compare_and_set(Session& /*session*/, std::int64_t expected, std::int64_t desired) {
    const std::lock_guard guard(mutex);
    if (holds != expected) return false;
    holds = desired;
    return true;
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
