// The calls of `Bulk.tla`: what the harness draws, and what it records.
//
// Written by `omnilink init --update`, omnilink 0.1.0. Do not edit it: change the
// specification or `omnilink.toml`, and write it again.
//
// ```text
// call Enqueue: Enqueue(first: integer, count: integer)
// call Dequeue: Dequeue(max: integer) = batch: sequence of integer
// plan c1b7bd7490e38992
// ```

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <omnilink/drive.hpp>

namespace operations {

inline constexpr omnilink::Action kEnqueue{"Enqueue", {"first", "count"}, {}};
inline constexpr omnilink::Action kDequeue{"Dequeue", {"max"}, {"batch"}};

// Actions of the specification that this harness leaves out. Runs do not cover them.
inline constexpr std::array<std::string_view, 0> kUnsupported{};

// The calls of the system.
enum class Call {
  Enqueue,  // Drawn with weight 1.
  Dequeue,  // Drawn with weight 1.
};

// The system is any class that derives from this one, has a type `Session` for the state of one thread (a handle, a
// connection, an open transaction), and these functions:
//
//   Session session(std::size_t thread);
//   void enqueue(Session& session, std::int64_t first, std::int64_t count);
//   std::vector<std::int64_t> dequeue(Session& session, std::int64_t max);
struct Defaults {
  // Whether a thread may make this call now. Calls that are not allowed are not drawn.
  template <class Session>
  bool allows(const Session&, Call) const {
    return true;
  }
};

// Draws a call, makes it, and records it. Does nothing if no call is allowed.
template <class System, class Session>
void step(System& system, Session& session, omnilink::Client& client) {
  const auto weight = [&](Call call, std::uint32_t often) { return system.allows(session, call) ? often : 0U; };
  const std::array<std::uint32_t, 2> weights{
      weight(Call::Enqueue, 1),
      weight(Call::Dequeue, 1),
  };
  if (std::all_of(weights.begin(), weights.end(), [](std::uint32_t often) { return often == 0; })) return;
  switch (static_cast<Call>(client.draw().weighted(weights))) {
    case Call::Enqueue: {
      const std::int64_t first = client.draw().fresh();
      const std::int64_t count = client.draw().range(0, 10);
      auto call = client.call(kEnqueue, first, count);
      system.enqueue(session, first, count);
      call.done();
      break;
    }
    case Call::Dequeue: {
      const std::int64_t max = client.draw().range(0, 10);
      auto call = client.call(kDequeue, max);
      const std::vector<std::int64_t> said = system.dequeue(session, max);
      call.done(said);
      break;
    }
  }
}

// Makes all calls that a plan asks for, from all its threads, and records them.
template <class System>
void run(const omnilink::Plan& plan, System& system) {
  omnilink::run(
      plan, system, [](System& shared, std::size_t thread) { return shared.session(thread); },
      [](System& shared, auto& session, omnilink::Client& client) { step(shared, session, client); });
}

// Placeholder for a function to fill in: exits the harness when called.
[[noreturn]] inline void todo(const char* function) {
  static std::once_flag said;
  std::call_once(said, [&] {
    std::fprintf(stderr, "error: fill in `%s` in main.cpp: make it call your system\n", function);
  });
  std::_Exit(2);
}

}  // namespace operations
