// Makes the calls of `Map.tla` on a map, from several threads, and records them.
//
// The map is a small one that works, so that you see a run before you change anything. To check your own, replace the
// parts marked 1 to 4. Calls are drawn and recorded in `operations.hpp`.

#include "operations.hpp"

#include <mutex>
#include <unordered_map>

// 1. The map under test.
struct Subject : operations::Defaults {
  std::mutex mutex;
  std::unordered_map<std::int64_t, std::int64_t> map;

  // The state of a thread.
  struct Session {};

  Session session(std::size_t /*thread*/) { return {}; }

  // 2. Stores a value.
  void put(Session& /*session*/, std::int64_t key, std::int64_t value) {
    const std::lock_guard guard(mutex);
    map[key] = value;
  }

  // 3. Looks a value up.
  operations::Get get(Session& /*session*/, std::int64_t key) {
    const std::lock_guard guard(mutex);
    const auto found = map.find(key);
    if (found == map.end()) return operations::GetMissing{};
    return operations::GetDone{found->second};
  }

  // 4. Removes a value, and returns whether there was one.
  bool remove(Session& /*session*/, std::int64_t key) {
    const std::lock_guard guard(mutex);
    return map.erase(key) != 0;
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
