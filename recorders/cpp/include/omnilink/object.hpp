// Describes an object by its calls, so that `omnilink lineup` and `omnilink fuzz` can test it: a whole program.
//
//   int main() {
//     return omnilink::object<Queue>()
//         .call("add", &Queue::add, 200, 400)                   // two calls: add(200) and add(400)
//         .call("try_take", [](Queue& queue) {                  // any callable that takes the object first
//           int value = 0;
//           return queue.try_take(value) ? std::optional(value) : std::nullopt;
//         })
//         .main();
//   }
//
// Every execution makes a new object. Calls are numbered from 0 in the order in which they are listed. The driver
// decides which of them run on which threads, through the environment:
//
//   OMNILINK_CALLS   write the calls to this file, one per line, and exit: `add(200)`
//   OMNILINK_MATRIX  `before;thread 0;thread 1;after`: lists of numbers of calls, with at least one thread. The main
//                    thread performs the first list, then all threads their own ones together, and then the main
//                    thread the last list
//   OMNILINK_ORDERS  words such as `011`: for each, make a new object and perform the calls of OMNILINK_MATRIX in this
//                    order of their threads (`0` to `9`, `a` to `z`), one at a time, each on its own thread
//   OMNILINK_REWIND  if it is not empty: do not close the trace, and record the next execution of this process in its place
//
// Without them the program is a harness that draws calls at random, with the variables of drive.hpp. A malformed variable
// is a message and exit code 2. An exception that a call throws ends the program.
//
// The action of a call is named after its method. Its arguments are named `arg0`, `arg1` and so on, or as the method says:
// `.call("put(key, value)", &Map::put, std::tuple{1, "a"})`. A call that does not return `void` has one result, `result`.

#pragma once

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "drive.hpp"

namespace omnilink {

namespace detail {

// Prints values that an `Encoding` wrote, in the notation of traces as text, with strings as in JSON. Only such bytes are
// read, so nothing is checked.
class ValuePrinter {
 public:
  explicit ValuePrinter(const std::uint8_t* at) : at_(at) {}

  // Behind the last value that was printed.
  const std::uint8_t* position() const { return at_; }

  std::string next() {
    const std::uint8_t tag = *at_++;
    switch (tag) {
      case 0x00: return "nil";
      case 0x01: return "FALSE";
      case 0x02: return "TRUE";
      case 0x03: return integer();
      case 0x04: return number();
      case 0x05: return quote(bytes(varint()));
      case tuple_tag: return items("<<", ">>");
      case set_tag: return items("{", "}");
      case function_tag: return function();
      case 0x09: return std::string(bytes(varint()));
      default: return tag < 0x40 ? quote(bytes(tag - 0x20U)) : std::to_string(tag - 0x50);
    }
  }

 private:
  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = *at_++;
      number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return number;
    }
  }

  std::string_view bytes(std::uint64_t count) {
    const std::string_view text(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(count));
    at_ += count;
    return text;
  }

  std::string integer() {
    const std::uint64_t bits = varint();
    return std::to_string(static_cast<std::int64_t>((bits >> 1U) ^ ((bits & 1U) != 0 ? UINT64_MAX : 0U)));
  }

  // The fewest digits that are this number.
  std::string number() {
    std::uint64_t bits = 0;
    for (unsigned byte = 0; byte < 8; ++byte) bits |= static_cast<std::uint64_t>(*at_++) << (8U * byte);
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    char text[32];
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      if (std::strtod(text, nullptr) == number) break;
    }
    return text;
  }

  std::string items(const char* open, const char* close) {
    std::string text = open;
    for (std::uint64_t count = varint(), i = 0; i < count; ++i) text.append(i == 0 ? "" : ", ").append(next());
    return text + close;
  }

  std::string function() {
    const std::uint64_t count = varint();
    if (count == 0) return "<<>>";
    std::string text = "(";
    for (std::uint64_t i = 0; i < count; ++i) {
      text.append(i == 0 ? "" : " @@ ").append(next()).append(" :> ");
      text.append(next());
    }
    return text + ")";
  }

  static std::string quote(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        quoted.append("\\").append(1, c);
      } else if (c == '\n') {
        quoted += "\\n";
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
        quoted += escape;
      } else {
        quoted += c;
      }
    }
    return quoted + "\"";
  }

  const std::uint8_t* at_;
};

template <class T>
std::string text_of(const T& value) {
  std::vector<std::uint8_t> buffer(bound(value) + room_beyond);
  write(buffer.data(), value);
  return ValuePrinter(buffer.data()).next();
}

// The name of a method and those of its parameters: `put(key, value)`, or `put` for `arg0`, `arg1` and so on.
struct Signature {
  std::string name;
  std::vector<std::string> parameters;

  Signature(std::string_view text, std::size_t count) : name(text.substr(0, text.find('('))) {
    if (name.size() == text.size()) {
      for (std::size_t i = 0; i < count; ++i) parameters.push_back("arg" + std::to_string(i));
    } else {
      split(text);
    }
    if (name.empty() || parameters.size() != count) {
      fail("the method `" + std::string(text) + "` is given " + std::to_string(count) +
           " arguments, expected a name such as `put` or `put(key, value)`");
    }
  }

 private:
  // The words between parentheses.
  void split(std::string_view text) {
    std::string_view rest = text.substr(name.size() + 1);
    rest = rest.substr(0, rest.find(')'));
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      std::string_view word = rest.substr(0, comma);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      parameters.emplace_back(word);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
  }
};

// An action with its names. It never moves: recorders know actions by their addresses, and actions refer to their names.
class OwnedAction {
 public:
  OwnedAction(Signature signature, bool has_result)
      : signature_(std::move(signature)),
        views_(signature_.parameters.begin(), signature_.parameters.end()),
        action_(signature_.name, Names(views_.data(), views_.size()), has_result ? Names{"result"} : Names{}) {}

  OwnedAction(const OwnedAction&) = delete;
  OwnedAction& operator=(const OwnedAction&) = delete;

  const Action& action() const { return action_; }
  bool is(const Signature& signature, bool has_result) const {
    return signature_.name == signature.name && signature_.parameters == signature.parameters &&
           (action_.results().size() == 1) == has_result;
  }

 private:
  Signature signature_;
  std::vector<std::string_view> views_;
  Action action_;
};

template <class T>
std::tuple<T> as_arguments(T value) {
  return std::tuple<T>(std::move(value));
}
template <class... T>
std::tuple<T...> as_arguments(std::tuple<T...> values) {
  return values;
}

[[noreturn]] inline void refuse(const std::string& message) {
  std::fprintf(stderr, "omnilink: %s\n", message.c_str());
  std::exit(2);
}

inline Plan plan_from_env() {
#ifdef __cpp_exceptions
  try {
    return Plan::from_env();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(2);
  }
#else
  return Plan::from_env();
#endif
}

// The calls of an execution by their numbers, and the orders in which to perform them if not together.
struct Matrix {
  std::string text;
  std::vector<std::size_t> before;
  std::vector<std::vector<std::size_t>> columns;  // One per thread, at least one.
  std::vector<std::size_t> after;
  std::vector<std::vector<std::size_t>> orders;  // Of threads.

  // Nothing if OMNILINK_MATRIX is not set. `calls` is the number of calls of the object.
  static std::optional<Matrix> from_env(std::size_t calls) {
    const std::string_view text = variable_or("OMNILINK_MATRIX", "");
    const std::string_view orders = variable_or("OMNILINK_ORDERS", "");
    if (text.empty() && !orders.empty()) refuse("OMNILINK_ORDERS is set, expected OMNILINK_MATRIX beside it");
    if (text.empty()) return std::nullopt;
    Matrix matrix;
    matrix.text = text;
    for (const std::string_view field : split(text, ';')) matrix.columns.push_back(numbers(field, calls, text));
    if (matrix.columns.size() < 3) {
      refuse("OMNILINK_MATRIX is `" + matrix.text + "`, expected at least three fields: `before;thread 0;after`");
    }
    matrix.before = std::move(matrix.columns.front());
    matrix.after = std::move(matrix.columns.back());
    matrix.columns.pop_back();
    matrix.columns.erase(matrix.columns.begin());
    for (const std::string_view word : split(orders, ' ')) {
      if (!word.empty()) matrix.orders.push_back(matrix.order(word));
    }
    return matrix;
  }

  std::size_t longest() const {
    std::size_t longest = 0;
    for (const auto& column : columns) longest = std::max(longest, column.size());
    return longest;
  }

  // Whether there are calls of the main thread.
  bool has_around() const { return !before.empty() || !after.empty(); }

  // Notes for the manifest. The text has only digits, blanks and semicolons.
  std::string meta() const {
    return "{\"matrix\": \"" + text + "\", \"orders\": " + std::to_string(orders.size()) + "}";
  }

 private:
  static std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
      parts.push_back(text.substr(0, end));
    }
    parts.push_back(text);
    return parts;
  }

  static std::vector<std::size_t> numbers(std::string_view field, std::size_t calls, std::string_view whole) {
    std::vector<std::size_t> list;
    for (const std::string_view word : split(field, ' ')) {
      if (word.empty()) continue;
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size() || number >= calls) {
        refuse("OMNILINK_MATRIX is `" + std::string(whole) + "` and has `" + std::string(word) +
               "`, expected the number of a call, from 0 to " + std::to_string(calls - 1));
      }
      list.push_back(number);
    }
    return list;
  }

  // The threads of a word, in which each occurs as often as it has calls.
  std::vector<std::size_t> order(std::string_view word) const {
    std::vector<std::size_t> threads;
    std::vector<std::size_t> counts(columns.size());
    for (const char c : word) {
      const std::size_t thread = std::string_view("0123456789abcdefghijklmnopqrstuvwxyz").find(c);
      if (thread >= columns.size()) refuse_order(word);
      ++counts[thread];
      threads.push_back(thread);
    }
    for (std::size_t thread = 0; thread < columns.size(); ++thread) {
      if (counts[thread] != columns[thread].size()) refuse_order(word);
    }
    return threads;
  }

  [[noreturn]] void refuse_order(std::string_view word) const {
    refuse("OMNILINK_ORDERS has `" + std::string(word) + "`, expected each thread of `" + text +
           "` once for each of its calls");
  }
};

// Lets one thread at a time perform one call. A call that blocks leaves the others waiting for their turn, so that
// nothing happens beside it.
class Turns {
 public:
  explicit Turns(std::size_t threads) : is_given_(threads) {}

  // Lets a thread work once, and waits until it has.
  void give(std::size_t thread) {
    std::unique_lock<std::mutex> lock(mutex_);
    turn_ = thread;
    is_given_[thread].notify_one();
    is_taken_.wait(lock, [&] { return !turn_; });
  }

  // Waits until it is this thread's turn, and works.
  template <class Work>
  void take(std::size_t thread, const Work& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    is_given_[thread].wait(lock, [&] { return turn_ == thread; });
    lock.unlock();
    work();
    lock.lock();
    turn_.reset();
    is_taken_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::vector<std::condition_variable> is_given_;  // One per thread.
  std::condition_variable is_taken_;
  std::optional<std::size_t> turn_;
};

}  // namespace detail

// The description of an object of type `T`: how it is made, and its calls.
template <class T>
class Object {
 public:
  explicit Object(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Lists one call for each of `arguments`: the value of the only parameter, or a `std::tuple` with one value per
  // parameter. Without any, lists one call that takes none. `method` is a pointer to a member function, or a callable
  // that takes the object first; threads share it. A method with overloads needs its type:
  // `static_cast<void (Queue::*)(int)>(&Queue::add)`.
  template <class Method, class... Arguments>
  Object& call(std::string_view name, Method method, Arguments... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      add(name, method, std::tuple<>());
    } else {
      (add(name, method, detail::as_arguments(std::move(arguments))), ...);
    }
    return *this;
  }

  // Does what the environment says, and returns the exit code.
  int main() const {
    if (calls_.empty()) detail::refuse("the object has no calls, expected at least one");
    const std::string list(detail::variable_or("OMNILINK_CALLS", ""));
    if (!list.empty()) {
      write_calls(list);
    } else {
      std::unique_ptr<Recording> kept;
      repeat([&] { execute(kept); });
    }
    return 0;
  }

 private:
  struct Call {
    std::string text;
    std::function<void(T&, Client&)> perform;
  };
  using Numbers = std::vector<std::size_t>;

  // Those who record an execution.
  struct Recording {
    std::string trace;
    std::vector<Client> clients;   // One per thread.
    std::optional<Client> around;  // The main thread.

    bool is_for(const Plan& plan, const detail::Matrix& matrix) const {
      return trace == plan.trace && clients.size() == plan.threads && around.has_value() == matrix.has_around();
    }

    void rewind() {
      for (Client& client : clients) client.rewind();
      if (around) around->rewind();
    }

    void close() {
      for (Client& client : clients) client.close();
      if (around) around->close();
    }
  };

  template <class Method, class... Arguments>
  void add(std::string_view name, const Method& method, std::tuple<Arguments...> arguments) {
    if constexpr (std::is_invocable_v<const Method&, T&, Arguments...>) {
      constexpr bool has_result = !std::is_void_v<std::invoke_result_t<const Method&, T&, Arguments...>>;
      const Action& action = action_of(detail::Signature(name, sizeof...(Arguments)), has_result);
      std::string text = std::string(action.name()) + "(";
      std::apply([&](const auto&... value) {
        std::size_t i = 0;
        static_cast<void>(i);  // There may be no arguments.
        ((text += (i++ == 0 ? "" : ", ") + detail::text_of(value)), ...);
      }, arguments);
      calls_.push_back({text + ")", [&action, method, arguments](T& object, Client& client) {
        auto copies = arguments;  // The method may move them away.
        std::apply([&](auto&... value) {
          auto pending = client.call(action, value...);
          if constexpr (has_result) {
            const auto result = std::invoke(method, object, std::move(value)...);
            pending.done(result);
          } else {
            std::invoke(method, object, std::move(value)...);
            pending.done();
          }
        }, copies);
      }});
    } else {
      static_assert(std::is_invocable_v<const Method&, T&, Arguments...>,
                    "the object has no such call: each argument of `call` is the value of the only parameter, or a "
                    "std::tuple with one value per parameter");
    }
  }

  // Calls of one method share an action, as far as they have the same parameters.
  const Action& action_of(detail::Signature signature, bool has_result) {
    for (const detail::OwnedAction& known : actions_) {
      if (known.is(signature, has_result)) return known.action();
    }
    return actions_.emplace_back(std::move(signature), has_result).action();
  }

  void write_calls(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    bool is_written = file != nullptr;
    if (is_written) {
      for (const Call& call : calls_) is_written &= std::fprintf(file, "%s\n", call.text.c_str()) >= 0;
      is_written &= std::fclose(file) == 0;
    }
    if (!is_written) detail::refuse("cannot write `" + path + "`: " + std::strerror(errno));
  }

  // One execution. The environment differs each time. `kept` records the next execution, too, if it may.
  void execute(std::unique_ptr<Recording>& kept) const {
    Plan plan = detail::plan_from_env();
    const std::optional<detail::Matrix> matrix = detail::Matrix::from_env(calls_.size());
    if (!matrix) {
      const std::unique_ptr<T> object = make_();
      return run(plan, *object, [](T&, std::size_t) { return 0; }, [this](T& shared, int&, Client& client) {
        calls_[static_cast<std::size_t>(client.draw().below(calls_.size()))].perform(shared, client);
      });
    }
    plan.threads = matrix->columns.size();
    plan.operations = matrix->longest();
    if (detail::is_controlled()) plan.perturbation = {};
    std::unique_ptr<Recording> recording = std::move(kept);
    if (recording && recording->is_for(plan, *matrix)) {
      recording->rewind();
    } else {
      recording = record(plan, *matrix);
    }
    auto& [trace, clients, around] = *recording;
    if (matrix->orders.empty()) perform_together(plan, *matrix, clients, around);
    for (const Numbers& order : matrix->orders) perform_in_order(order, *matrix, clients, around);
    if (detail::variable_or("OMNILINK_REWIND", "").empty()) {
      recording->close();
    } else {
      kept = std::move(recording);
    }
  }

  static std::unique_ptr<Recording> record(const Plan& plan, const detail::Matrix& matrix) {
    const Recorder recorder = Recorder::create(plan.trace, Clock::best(), matrix.meta());
    auto recording = std::make_unique<Recording>();
    recording->trace = plan.trace;
    for (std::size_t thread = 0; thread < plan.threads; ++thread) {
      recording->clients.emplace_back(plan, thread, recorder.process(std::to_string(thread)));
    }
    if (matrix.has_around()) recording->around.emplace(plan, plan.threads, recorder.process("main"));
    return recording;
  }

  void perform_together(const Plan& plan, const detail::Matrix& matrix, std::vector<Client>& clients,
                        std::optional<Client>& around) const {
    const std::unique_ptr<T> object = make_();
    for (const std::size_t number : matrix.before) calls_[number].perform(*object, *around);
    detail::Crew(plan, clients)
        .run(*object, [](T&, std::size_t) { return std::size_t{0}; }, [&](T& shared, std::size_t& next, Client& client) {
          const Numbers& column = matrix.columns[client.thread()];
          if (next < column.size()) calls_[column[next++]].perform(shared, client);
        });
    for (const std::size_t number : matrix.after) calls_[number].perform(*object, *around);
  }

  void perform_in_order(const Numbers& order, const detail::Matrix& matrix, std::vector<Client>& clients,
                        std::optional<Client>& around) const {
    const std::unique_ptr<T> object = make_();
    for (const std::size_t number : matrix.before) calls_[number].perform(*object, *around);
    detail::Turns turns(clients.size());
    std::vector<std::thread> threads;
    for (Client& client : clients) {
      threads.emplace_back([&] {
        for (const std::size_t number : matrix.columns[client.thread()]) {
          turns.take(client.thread(), [&] { calls_[number].perform(*object, client); });
        }
      });
    }
    for (const std::size_t thread : order) turns.give(thread);
    for (std::thread& thread : threads) thread.join();
    for (const std::size_t number : matrix.after) calls_[number].perform(*object, *around);
  }

  std::function<std::unique_ptr<T>()> make_;
  std::deque<detail::OwnedAction> actions_;  // Never moves them.
  std::vector<Call> calls_;                  // By number.
};

// Describes an object that `make` makes, which returns a `T` or a `std::unique_ptr<T>`.
template <class T, class Make>
Object<T> object(Make make) {
  using Made = std::invoke_result_t<Make&>;
  if constexpr (std::is_convertible_v<Made, std::unique_ptr<T>>) {
    return Object<T>(std::move(make));
  } else {
    static_assert(std::is_same_v<Made, T>, "`make` returns the object or a std::unique_ptr to it");
    return Object<T>([make = std::move(make)]() mutable { return std::unique_ptr<T>(new T(make())); });
  }
}

// Describes an object that is made by its constructor without arguments.
template <class T>
Object<T> object() {
  return Object<T>([] { return std::make_unique<T>(); });
}

}  // namespace omnilink
