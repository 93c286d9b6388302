// Makes the calls of `Lock.tla` on a lock, from several threads, and records them.
//
// The lock is a small one that works, so that you see a run before you change anything. To check your own, replace the
// parts marked 1 to 4. Calls are drawn and recorded in `operations.hpp`.

#include "operations.hpp"

#include <atomic>
#include <thread>

// 1. The lock under test.
struct Subject : operations::Defaults {
  std::atomic<bool> is_locked{false};

  bool lock() { return !is_locked.exchange(true, std::memory_order_acquire); }

  // Whether the thread owns the lock.
  struct Session {
    bool is_owner = false;
  };

  Session session(std::size_t /*thread*/) { return {}; }

  // Only the owner releases the lock, and the owner does not take it again.
  bool allows(const Session& session, operations::Call call) const {
    return (call == operations::Call::Release) == session.is_owner;
  }

  // 2. Waits for the lock, but not forever: the owner may have made all its calls.
  operations::Acquire acquire(Session& session) {
    for (int tries = 0; tries < 100; ++tries) {
      session.is_owner = lock();
      if (session.is_owner) return operations::AcquireDone{};
      std::this_thread::yield();
    }
    return operations::AcquireTimeout{};
  }

  // 3. Takes the lock if it is free.
  operations::TryAcquire try_acquire(Session& session) {
    session.is_owner = lock();
    if (session.is_owner) return operations::TryAcquireDone{};
    return operations::TryAcquireBusy{};
  }

  // 4. Gives the lock back.
  void release(Session& session) {
    session.is_owner = false;
    is_locked.store(false, std::memory_order_release);
  }
};

int main() {
  omnilink::repeat([] {
    Subject subject;
    operations::run(omnilink::Plan::from_env(), subject);
  });
}
