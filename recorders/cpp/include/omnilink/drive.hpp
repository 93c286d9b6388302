// Runs a system under load and records its operations: the loop of a harness.
//
//   int main() {
//     omnilink::repeat([] {
//       Queue queue;
//       omnilink::run(omnilink::Plan::from_env(), queue,
//                     [](Queue& shared, std::size_t) { return ProducerToken(shared); },
//                     [](Queue& shared, ProducerToken& token, omnilink::Client& client) {
//                       const auto elem = client.draw().fresh();
//                       auto call = client.call(ENQUEUE, elem);
//                       shared.enqueue(token, elem);
//                       call.done();
//                     });
//     });
//   }
//
// All threads wait for each other once and then run freely: synchronizing again before each operation would leave few
// threads running at a time on a machine with few processors. The parameters come from the environment, so that the
// caller of the harness (`omnilink fuzz`, a person, a test) decides:
//
//   OMNILINK_TRACE    the directory of the trace [default: `trace`, also if empty]
//   OMNILINK_SEED     the seed of all inputs [default: 0]
//   OMNILINK_THREADS  the number of threads, at least one [default: 2]
//   OMNILINK_OPS      the number of operations of each thread [default: 100]
//   OMNILINK_PERTURB  perturbations of the threads: any of `yield=N`, `nap=N`, `pin`, `crowd=N`, separated by commas
//   OMNILINK_ONLY     the operations to make, such as `0:1,3 2:0`: 1 and 3 of thread 0, 0 of thread 2 [default: all]
//   OMNILINK_SCRIPT   a file with the calls to make instead, for `run_calls`; see script.hpp [default: none]
//
// The same seed draws the same inputs here and in the Rust driver. Each operation draws from a generator of its own, so
// its inputs stay the same if other operations are left out. Perturbations are drawn from a separate generator,
// so perturbing a run does not change its inputs.
//
// In a program under control the runtime decides which thread runs, so nothing perturbs the threads: they only
// synchronize at a gate that the runtime knows of. Such a program can be run many times in one process; `repeat` is
// for that.

#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "control.hpp"
#include "error.hpp"
#include "recorder.hpp"
#include "script.hpp"

namespace omnilink {

namespace detail {

inline std::uint64_t number_in(const char* variable, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(std::string(variable) + " is `" + std::string(text) + "`, expected a number from 0 to 2^64 - 1");
  }
  return number;
}

// An empty variable counts as not set.
inline std::string_view variable_or(const char* variable, std::string_view otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : text;
}

}  // namespace detail

// How threads are perturbed, so that they interleave in ways that are otherwise rare.
struct Perturbation {
  std::uint64_t yield = 0;  // One in this many operations yields first; 0 for none.
  std::uint64_t nap = 0;    // One in this many operations sleeps first, for up to 100 microseconds; 0 for none.
  bool pin = false;         // Each thread is pinned to one processor.
  std::uint64_t crowd = 0;  // This many additional threads only burn time.

  static Perturbation parse(std::string_view text) {
    Perturbation perturbation;
    while (!text.empty()) {
      const std::size_t comma = text.find(',');
      perturbation.add(text.substr(0, comma));
      text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    }
    return perturbation;
  }

  // In the syntax that is parsed, without entries that never happen.
  std::string text() const {
    std::string list;
    const auto add = [&](const std::string& word) { list += (list.empty() ? "" : ",") + word; };
    if (yield != 0) add("yield=" + std::to_string(yield));
    if (nap != 0) add("nap=" + std::to_string(nap));
    if (pin) add("pin");
    if (crowd != 0) add("crowd=" + std::to_string(crowd));
    return list;
  }

 private:
  void add(std::string_view word) {
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word.empty()) return;
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    if (word == "pin") {
      pin = true;
      return;
    }
    std::uint64_t* const count = name == "yield" ? &yield : name == "nap" ? &nap : name == "crowd" ? &crowd : nullptr;
    if (count == nullptr || equals == std::string_view::npos) {
      detail::fail("OMNILINK_PERTURB has `" + std::string(word) +
                   "`, expected `yield=N`, `nap=N`, `pin` or `crowd=N`");
    }
    *count = detail::number_in("OMNILINK_PERTURB", word.substr(equals + 1));
  }
};

// Some operations of some threads, such as `0:1,3 2:0`: operations 1 and 3 of thread 0, and operation 0 of thread 2.
class Only {
 public:
  explicit Only(std::string_view text) : text_(text) {
    while (!text.empty()) {
      const std::size_t space = text.find(' ');
      if (space != 0) add(text.substr(0, space));
      text = space == std::string_view::npos ? "" : text.substr(space + 1);
    }
  }

  bool has_thread(std::size_t thread) const {
    return std::any_of(operations_.begin(), operations_.end(), [&](const auto& entry) { return entry.first == thread; });
  }
  bool has(std::size_t thread, std::size_t operation) const {
    return std::find(operations_.begin(), operations_.end(), std::pair(thread, operation)) != operations_.end();
  }
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view entry) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) {
      detail::fail("OMNILINK_ONLY has `" + std::string(entry) + "`, expected entries such as `0:1,3`");
    }
    const auto number = [](std::string_view digits) {
      return static_cast<std::size_t>(detail::number_in("OMNILINK_ONLY", digits));
    };
    const std::size_t thread = number(entry.substr(0, colon));
    std::string_view rest = entry.substr(colon + 1);
    while (true) {
      const std::size_t comma = rest.find(',');
      operations_.emplace_back(thread, number(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }

  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> operations_;
};

// The parameters of a run.
struct Plan {
  std::string trace = "trace";
  std::uint64_t seed = 0;
  std::size_t threads = 2;
  std::size_t operations = 100;  // Of each thread.
  Perturbation perturbation;
  std::optional<Only> only;  // The operations to make, if not all.
  std::string script;        // A file with the calls to make instead, if not empty.

  bool has_thread(std::size_t thread) const { return !only || only->has_thread(thread); }
  bool has(std::size_t thread, std::size_t operation) const { return !only || only->has(thread, operation); }

  static Plan from_env() {
    const auto number = [](const char* variable, std::string_view otherwise) {
      return detail::number_in(variable, detail::variable_or(variable, otherwise));
    };
    Plan plan;
    plan.trace = detail::variable_or("OMNILINK_TRACE", "trace");
    plan.seed = number("OMNILINK_SEED", "0");
    plan.threads = static_cast<std::size_t>(number("OMNILINK_THREADS", "2"));
    plan.operations = static_cast<std::size_t>(number("OMNILINK_OPS", "100"));
    plan.perturbation = Perturbation::parse(detail::variable_or("OMNILINK_PERTURB", ""));
    if (const std::string_view only = detail::variable_or("OMNILINK_ONLY", ""); !only.empty()) plan.only = Only(only);
    plan.script = detail::variable_or("OMNILINK_SCRIPT", "");
    if (plan.threads == 0) detail::fail("OMNILINK_THREADS is 0, expected at least one thread");
    return plan;
  }
};

// The splitmix64 generator of Steele, Lea and Flood: small, fast, and good enough to draw inputs from.
class SplitMix {
 public:
  explicit constexpr SplitMix(std::uint64_t state) : state_(state) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }

  // A number from 0 to n - 1: the upper half of a product, which needs no division.
  constexpr std::uint64_t below(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * n) >> 64U);
  }

 private:
  std::uint64_t state_;
};

// The source of a thread's inputs.
class Draw {
 public:
  Draw(std::uint64_t seed, std::size_t thread, std::size_t threads)
      : generator_(first_state(seed, thread)),
        base_(generator_.next()),
        thread_(thread),
        threads_(threads),
        next_fresh_(thread),
        fresh_stride_(threads) {
    generator_ = SplitMix(first_state(seed, thread));
  }

  // Continues as the generator of an operation of the thread, which makes `operations` of them.
  void begin(std::size_t operation, std::size_t operations) {
    generator_ = SplitMix(base_ ^ SplitMix(operation + 1).next());
    next_fresh_ = thread_ + threads_ * operation;
    fresh_stride_ = threads_ * operations;
  }

  // A number from 0 to n - 1; n is not 0.
  std::uint64_t below(std::uint64_t n) { return generator_.below(n); }

  // A number from low to high, both included.
  std::int64_t range(std::int64_t low, std::int64_t high) {
    const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = count == 0 ? generator_.next() : generator_.below(count);  // 0 stands for 2^64.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }

  // One of the elements of an array or vector, each as likely as the others.
  template <class Items>
  auto one_of(const Items& items) -> decltype(*std::begin(items)) {
    return *(std::begin(items) + static_cast<std::ptrdiff_t>(below(std::size(items))));
  }
  template <class T>
  T one_of(std::initializer_list<T> items) {
    return *(items.begin() + below(items.size()));
  }

  // The index of one of the weights, with probability proportional to it.
  template <class Weights = std::initializer_list<std::uint32_t>>
  std::size_t weighted(const Weights& weights) {
    std::uint64_t rest = below(std::accumulate(std::begin(weights), std::end(weights), std::uint64_t{0}));
    std::size_t index = 0;
    for (const std::uint64_t weight : weights) {
      if (rest < weight) break;
      rest -= weight;
      ++index;
    }
    return index;
  }

  // A number that no other draw of this run returns, on any thread.
  std::int64_t fresh() {
    return static_cast<std::int64_t>(std::exchange(next_fresh_, next_fresh_ + fresh_stride_));
  }

  // The initial state of a thread's generator. Both numbers are mixed: states that differ by a multiple of the
  // increment would draw the same numbers, only sooner or later.
  static constexpr std::uint64_t first_state(std::uint64_t seed, std::size_t thread) {
    return SplitMix(seed).next() ^ SplitMix(thread + 1).next();
  }

 private:
  SplitMix generator_;
  std::uint64_t base_;  // What all generators of the thread have in common.
  std::size_t thread_;
  std::size_t threads_;
  std::size_t next_fresh_;
  std::size_t fresh_stride_;
};

// The resources of one thread of a run.
class Client {
 public:
  Client(const Plan& plan, std::size_t thread, Process process)
      : process_(std::move(process)),
        draw_(plan.seed, thread, plan.threads),
        disturbances_(~Draw::first_state(plan.seed, thread)),
        yield_(plan.perturbation.yield),
        nap_(plan.perturbation.nap),
        thread_(thread) {}

  // Perturbs the thread if it is due, and then publishes that `action` begins.
  template <class... Arguments>
  Pending call(const Action& action, const Arguments&... arguments) {
    disturb();
    return process_.call(action, arguments...);
  }
  template <class... Arguments>
  Pending call(const Action&&, const Arguments&...) = delete;

  Draw& draw() { return draw_; }
  std::size_t thread() const { return thread_; }

  // See `Process::rewind`.
  void rewind() { process_.rewind(); }

  // See `Process::close`.
  void close() { process_.close(); }

 private:
  void disturb() {
    if (yield_ != 0 && disturbances_.below(yield_) == 0) std::this_thread::yield();
    if (nap_ != 0 && disturbances_.below(nap_) == 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(disturbances_.below(100'000)));
    }
  }

  Process process_;
  Draw draw_;
  SplitMix disturbances_;
  std::uint64_t yield_;
  std::uint64_t nap_;
  std::size_t thread_;
};

namespace detail {

// Pins the calling thread to one of the processors that the program may use.
inline void stay_on_processor(std::size_t thread) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::size_t rest = thread % static_cast<std::size_t>(CPU_COUNT(&allowed));
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || rest-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    // A sandbox may forbid it; then the run is only less perturbed.
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// The data that the threads of a run share besides the system.
class Crew {
 public:
  // `counts` has the number of calls of each client, if a script has them.
  Crew(const Plan& plan, std::vector<Client>& clients, std::vector<std::size_t> counts = {})
      : plan_(plan), clients_(clients), counts_(std::move(counts)) {}

  template <class System, class Session, class Step>
  void run(System& system, const Session& session, const Step& step) {
    std::vector<std::thread> crowd;
    std::vector<std::thread> threads;
    // If a thread cannot be started, those before it run without it, so that they can be joined.
    guarded([&] {
      for (std::uint64_t i = 0; i < plan_.perturbation.crowd; ++i) {
        crowd.emplace_back([this] {
          while (!is_over_.load(std::memory_order_relaxed)) {
          }
        });
      }
      for (Client& client : clients_) {
        threads.emplace_back([&] { guarded([&] { work(system, session, step, client); }); });
      }
    });
    for (std::thread& thread : threads) thread.join();
    is_over_.store(true);
    for (std::thread& thread : crowd) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class System, class Session, class Step>
  void work(System& system, const Session& session, const Step& step, Client& client) {
    if (plan_.perturbation.pin) stay_on_processor(client.thread());
    auto own = make(session, system, client);
    meet();
    const bool is_scripted = !counts_.empty();
    const std::size_t count = is_scripted ? counts_[static_cast<std::size_t>(&client - clients_.data())] : plan_.operations;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_scripted && !plan_.has(client.thread(), i)) continue;
      client.draw().begin(i, plan_.operations);
      step(system, own, client);
    }
  }

  // The result of `session`. If it throws, the other threads do not wait for this one.
  template <class System, class Session>
  auto make(const Session& session, System& system, const Client& client) {
#ifdef __cpp_exceptions
    try {
      return session(system, client.thread());
    } catch (...) {
      if (is_controlled()) meet();
      throw;
    }
#else
    return session(system, client.thread());
#endif
  }

  // Waits for all threads, or until one of them has failed.
  void meet() {
    if (is_controlled()) return omnilink_sched_gate(static_cast<std::uint32_t>(clients_.size()));
    waiting_.fetch_add(1);
    while (waiting_.load() < clients_.size() && !has_failed_.load()) std::this_thread::yield();
  }

  // Keeps the first exception of all threads for the thread that joins them.
  template <class Work>
  void guarded(const Work& work) {
#ifdef __cpp_exceptions
    try {
      work();
    } catch (...) {
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
#else
    work();
#endif
  }

  const Plan& plan_;
  std::vector<Client>& clients_;
  const std::vector<std::size_t> counts_;
  std::atomic<std::size_t> waiting_{0};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
};

}  // namespace detail

namespace detail {

// A trace for a run, and its clients.
struct Recording {
  Recorder recorder;
  std::vector<Client> clients;

  Recording(const Plan& plan, const std::vector<std::size_t>& threads)
      : recorder(Recorder::create(plan.trace, Clock::best(), meta(plan))) {
    for (const std::size_t thread : threads) clients.emplace_back(plan, thread, recorder.process(std::to_string(thread)));
  }

  static std::string meta(const Plan& plan) {
    const std::string drawn = "\"seed\": " + std::to_string(plan.seed) + ", \"threads\": " +
                              std::to_string(plan.threads) + ", \"operations\": " + std::to_string(plan.operations);
    return "{" + (plan.script.empty() ? drawn : "\"script\": " + json(plan.script.c_str())) + ", \"perturb\": \"" +
           plan.perturbation.text() + "\"" + (plan.only ? ", \"only\": \"" + plan.only->text() + "\"}" : "}");
  }
};

// The plan as it is here: under control the runtime decides which thread runs.
inline Plan plan_here(Plan plan) {
  if (is_controlled()) plan.perturbation = {};
  return plan;
}

// The threads that make an operation of a plan.
inline std::vector<std::size_t> threads_of(const Plan& plan) {
  std::vector<std::size_t> threads;
  for (std::size_t thread = 0; thread < plan.threads; ++thread) {
    if (plan.has_thread(thread)) threads.push_back(thread);
  }
  return threads;
}

}  // namespace detail

// Runs `step(system, own, client)` `plan.operations` times on each thread, where `own` is the result of
// `session(system, thread)` for that thread. Processes are named after threads: `0`, `1`, and so on.
template <class System, class Session, class Step>
void run(const Plan& wanted, System& system, const Session& session, const Step& step) {
  const Plan plan = detail::plan_here(wanted);
  if (!plan.script.empty()) {
    detail::fail(plan.script + ": this harness draws its calls by itself, and follows no script");
  }
  detail::Recording recording(plan, detail::threads_of(plan));
  detail::Crew(plan, recording.clients).run(system, session, step);
  for (Client& client : recording.clients) client.close();
}

// The same with calls that a script can name. `draw(system, own, client.draw())` is the next call, or none if no call is
// allowed; if the plan has a script, its lines are the calls. `make(system, own, client, call)` makes and records it.
// `read(line)` makes a call of a line, and `write(call, line)` a line of a call. The file `script` of the trace lists the
// calls.
template <class Call, class System, class Session, class Draw, class Make, class Read, class Write>
void run_calls(const Plan& wanted, System& system, const Session& session, const Draw& draw, const Make& make,
               const Read& read, const Write& write) {
  const Plan plan = detail::plan_here(wanted);
  detail::Calls<Call> calls;  // Of each client: those of the script, or those that it made.
  std::vector<std::size_t> counts;
  if (plan.script.empty()) {
    for (const std::size_t thread : detail::threads_of(plan)) calls.emplace_back(thread, std::vector<Call>());
  } else {
    calls = detail::read_script<Call>(plan.script, read);
    for (const auto& of : calls) counts.push_back(of.second.size());
  }
  std::vector<std::size_t> threads;
  for (const auto& of : calls) threads.push_back(of.first);
  detail::Recording recording(plan, threads);
  detail::ScriptWriter writer(plan.trace);
  struct Own {
    decltype(session(system, std::size_t{})) state;
    std::vector<Call>& calls;
    std::size_t next = 0;
  };
  const auto begin = [&](System& shared, std::size_t thread) {
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& of) { return of.first == thread; });
    return Own{session(shared, thread), found->second};
  };
  const auto step = [&](System& shared, Own& own, Client& client) {
    const bool is_scripted = !counts.empty();
    const std::optional<Call> call =
        is_scripted ? std::optional<Call>(own.calls[own.next++]) : draw(shared, own.state, client.draw());
    if (!call) return;
    if (detail::is_controlled()) {
      writer.add(client.thread(), *call, write);
    } else if (!is_scripted) {
      own.calls.push_back(*call);
    }
    make(shared, own.state, client, *call);
  };
  const auto finish = [&] {
    if (detail::is_controlled()) return;
    for (const auto& [thread, made] : calls) {
      for (const Call& call : made) writer.add(thread, call, write);
    }
  };
#ifdef __cpp_exceptions
  try {
    detail::Crew(plan, recording.clients, counts).run(system, begin, step);
  } catch (...) {
    finish();
    throw;
  }
#else
  detail::Crew(plan, recording.clients, counts).run(system, begin, step);
#endif
  finish();
  for (Client& client : recording.clients) client.close();
}

// Runs `body` once, or, in a program under control, as often as the driver asks. `body` creates its own system, reads
// its plan from the environment, which differs each time, and runs it.
template <class Body>
void repeat(const Body& body) {
  if (!detail::is_controlled()) return body();
  while (omnilink_sched_next() == 1) body();
}

}  // namespace omnilink
