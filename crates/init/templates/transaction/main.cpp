// Makes the calls of `Transaction.tla` on a store, from several threads, and records them.
//
// The store is a small one that works, so that you see a run before you change anything. To check your own, replace the
// parts marked 1 to 7. Calls are drawn and recorded in `operations.hpp`.

#include "operations.hpp"

#include <map>
#include <mutex>
#include <set>
#include <utility>

// 1. The store under test.
struct Subject : operations::Defaults {
  std::mutex mutex;
  std::uint64_t commits = 0;                       // The number of committed transactions.
  std::map<std::string, std::int64_t> store;       // The values committed last.
  std::map<std::string, std::uint64_t> commit_of;  // The commits of these values.

  // 2. The state of a thread: its transaction, if one is open.
  struct Session {
    bool is_open = false;
    std::uint64_t commits_before = 0;
    std::map<std::string, std::int64_t> sees;
    std::set<std::string> written;
  };

  Session session(std::size_t /*thread*/) { return {}; }

  // A transaction begins when none is open; everything else needs an open one.
  bool allows(const Session& session, operations::Call call) const {
    return (call == operations::Call::Begin) != session.is_open;
  }

  // 3. Begins a transaction.
  void begin(Session& session) {
    const std::lock_guard guard(mutex);
    session = Session{true, commits, store, {}};
  }

  // 4. Reads a value: 0 if there is none.
  std::int64_t read(Session& session, const char* key) {
    const auto found = session.sees.find(key);
    return found == session.sees.end() ? 0 : found->second;
  }

  // 5. Writes a value.
  void write(Session& session, const char* key, std::int64_t value) {
    session.sees[key] = value;
    session.written.insert(key);
  }

  // 6. Commits, unless another transaction has committed one of the same keys meanwhile.
  operations::Commit commit(Session& session) {
    const Session transaction = std::exchange(session, Session{});
    const std::lock_guard guard(mutex);
    for (const std::string& key : transaction.written) {
      const auto found = commit_of.find(key);
      if (found != commit_of.end() && found->second > transaction.commits_before) return operations::CommitConflict{};
    }
    ++commits;
    for (const std::string& key : transaction.written) {
      store[key] = transaction.sees.at(key);
      commit_of[key] = commits;
    }
    return operations::CommitDone{};
  }

  // 7. Gives up.
  void abort(Session& session) { session = Session{}; }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
