// Records the operations of a concurrent program, so that OmniLink can decide whether its specification allows them.
//
//   inline constexpr omnilink::Action ENQUEUE{"Enqueue", {"elem"}};
//   inline constexpr omnilink::Action DEQUEUE{"Dequeue", {}, {"elem"}};
//   inline constexpr omnilink::Action DEQUEUE_EMPTY{"DequeueEmpty"};
//
//   auto recorder = omnilink::Recorder::create("trace");
//   auto process = recorder.process("c1");               // one per thread
//
//   auto enqueue = process.call(ENQUEUE, 7);             // in the trace before the queue is touched
//   queue.enqueue(7);
//   enqueue.done();
//
//   auto dequeue = process.call(DEQUEUE);
//   if (int elem; queue.try_dequeue(elem)) {
//     dequeue.done(elem);
//   } else {
//     dequeue.done_as(DEQUEUE_EMPTY, std::tuple(), std::tuple());
//   }
//
// A trace is a directory with one segment per process; FORMAT.md specifies its contents. A call is published when it
// begins and its outcome when it ends, so an operation that never returns is in the trace, as unfinished. Nothing is
// lost when the program crashes; segment.hpp says why no signal handler is needed for that.

#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "error.hpp"
#include "segment.hpp"
#include "value.hpp"

namespace omnilink {

// The names of arguments or results. A positional one has an empty name. The characters are not copied: names are
// literals, or outlive their action.
class Names {
 public:
  static constexpr std::size_t most = 16;

  constexpr Names(std::initializer_list<std::string_view> names) : Names(names.begin(), names.size()) {}
  constexpr Names(const std::string_view* first, std::size_t count) : count_(count) {
    if (count > most) detail::fail("an action has at most 16 arguments and 16 results");
    for (std::size_t i = 0; i < count; ++i) names_[i] = first[i];
  }

  constexpr std::size_t size() const { return count_; }
  constexpr const std::string_view* begin() const { return names_.data(); }
  constexpr const std::string_view* end() const { return names_.data() + count_; }

 private:
  std::array<std::string_view, most> names_{};
  std::size_t count_ = 0;
};

// An action that can be called: a name, the names of its arguments and of its results. A recorder identifies actions
// by their addresses, so an action is a constant that is never copied and outlives every process that uses it.
class Action {
 public:
  constexpr explicit Action(std::string_view name, Names arguments = {}, Names results = {})
      : name_(name), arguments_(arguments), results_(results) {}

  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;

  constexpr std::string_view name() const { return name_; }
  constexpr const Names& arguments() const { return arguments_; }
  constexpr const Names& results() const { return results_; }

 private:
  std::string_view name_;
  Names arguments_;
  Names results_;
};

namespace detail {

enum class Kind : std::uint8_t {
  action = 1,
  call = 3,
  back = 4,
  fail = 5,
  metadata = 6,
  end = 7,
  outcome = 8,
  unknown = 9
};

// The directory that all processes of a recorder write into.
class Directory {
 public:
  Directory(std::string path, Clock clock) : path_(std::move(path)), clock_(clock) {}

  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // Prints that the trace is gone, if no caller got an error.
  ~Directory() {
    if (is_deleted_) {
      std::fprintf(stderr, "omnilink: the trace in `%s` was deleted while it was written\n", path_.c_str());
    }
  }

  const Clock& clock() const { return clock_; }

  void note_deleted() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_deleted_ = true;
  }

  // The next segment, or nothing if this process already has one.
  std::unique_ptr<Segment> next_segment(const std::string& process) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (processes_.count(process) != 0) return nullptr;
    char name[32];
    std::snprintf(name, sizeof name, "/%03zu.seg", processes_.size());
    auto segment = std::make_unique<Segment>(path_ + name, process);
    processes_.insert(process);
    return segment;
  }

 private:
  std::string path_;
  Clock clock_;
  std::mutex mutex_;
  std::unordered_set<std::string> processes_;  // One for each segment.
  // A file was gone when its process ended, and no caller got an error. Not atomic, which would be a step under
  // control.
  bool is_deleted_ = false;
};

// The segment of a process, and its open call.
class Log {
 public:
  Log(std::shared_ptr<Directory> directory, std::string_view process)
      : directory_(std::move(directory)), clock_(directory_->clock()), process_(process) {
    expect_utf8(process_);
    if (process_.size() > longest_name) fail("the name of a process has at most 240 bytes");
    segment_ = directory_->next_segment(process_);
    if (!segment_) fail("process `" + process_ + "` already exists");
  }

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  ~Log() {
#ifdef __cpp_exceptions
    try {
      close();
    } catch (...) {
      // Without its end record the segment breaks off, and the reader says so.
    }
#else
    close();
#endif
  }

  template <class Arguments>
  void begin(const Action& action, const Arguments& arguments) {
    expect(action.arguments(), arguments.size(), action, "arguments");
    if (state_ != State::idle) continue_elsewhere();
    number_ = number_of(action);
    action_ = &action;
    // The clocks of two processors may disagree by a little, and a thread may move between them. Its operations are
    // sequential all the same, so a start before the previous end is a reading that is too early. Raising it to that
    // end adds nothing that is not known.
    start_ = std::max(clock_.early(), latest_);
    const Settling settling(clock_);
    has_end_ = false;
    is_start_refined_ = false;
    segment_->append(number_and_times + arguments.bound(), [&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(Kind::call);
      to = write_varint(to, number_);
      to = write_difference(to, start_, written_);
      std::uint8_t* const end = arguments.write(to);
      arguments_length_ = static_cast<std::size_t>(end - to);
      return end;
    });
    arguments_ = segment_->end() - arguments_length_;
    written_ = start_;
    state_ = State::running;
    ++operations_;
    clock_.settle();
  }

  template <class Results>
  void done(const Results& results) {
    const std::uint64_t end = finish();
    const Settling settling(clock_);
    expect(action_->results(), results.size(), *action_, "results");
    if (is_start_refined_) {
      outcome(number_, end, arguments_length_ + results.bound(), [&](std::uint8_t* to) {
        std::memcpy(to, arguments_, arguments_length_);
        return results.write(to + arguments_length_);
      });
    } else {
      back(Kind::back, end, results);
    }
    close_call();
  }

  template <class Arguments, class Results>
  void done_as(const Action& action, const Arguments& arguments, const Results& results) {
    const std::uint64_t end = finish();
    const Settling settling(clock_);
    expect(action.arguments(), arguments.size(), action, "arguments");
    expect(action.results(), results.size(), action, "results");
    outcome(number_of(action), end, arguments.bound() + results.bound(),
            [&](std::uint8_t* to) { return results.write(arguments.write(to)); });
    close_call();
  }

  void failed() {
    const std::uint64_t end = finish();
    const Settling settling(clock_);
    back(Kind::fail, end, row());
    close_call();
  }

  void unknown_by_now() {
    const std::uint64_t latest = finish();
    const Settling settling(clock_);
    back(Kind::unknown, latest, row());
    close_call();
    abandon();
  }

  template <class T>
  void meta(std::string_view key, const T& value) {
    segment_->append(1 + bound_of_text(key) + detail::bound<T>(value), [&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(Kind::metadata);
      return detail::write<T>(write_text(to, key), value);
    });
  }

  void refine_start() {
    start_ = std::max(clock_.start(), latest_);
    is_start_refined_ = true;
    has_end_ = false;
  }

  void refine_end() {
    end_ = clock_.end();
    has_end_ = true;
  }

  void abandon() { state_ = State::abandoned; }

  // Removes all operations. Time may begin anew.
  void rewind() {
    segment_->rewind();
    latest_ = 0;
    begin_anew();
  }

  // Ends the segment for good, and fails if its file is gone.
  void close_and_check() {
    const bool is_deleted = segment_ && segment_->is_deleted();
    const std::string path = segment_ ? segment_->path() : "";
    is_close_checked_ = true;
    close();
    segment_.reset();
    if (is_deleted) fail("`" + path + "` was deleted while it was recorded");
  }

 private:
  enum class State : unsigned char { idle, running, abandoned };

  static constexpr std::size_t longest_name = 240;  // Of 255 bytes, which leaves some for `+1` and so on.
  static constexpr std::size_t number_and_times = 1 + 3 * longest_varint;

  static void expect(const Names& names, std::size_t count, const Action& action, const char* what) {
    if (__builtin_expect(names.size() != count, 0)) wrong_count(names, count, action, what);
  }

  [[noreturn, gnu::noinline]] static void wrong_count(const Names& names, std::size_t count, const Action& action,
                                                      const char* what) {
    fail("`" + std::string(action.name()) + "` has " + std::to_string(names.size()) + " " + what + ", and " +
         std::to_string(count) + " are given");
  }

  // The end. If the start was raised and the thread runs on the processor that lags, the reading may be before it; an
  // end that is too late is harmless.
  std::uint64_t finish() { return latest_ = std::max(has_end_ ? end_ : clock_.late(), start_); }

  // A guard while recording: in a program under control, nothing this thread does is a step until it is destroyed,
  // also if a recorded value throws.
  class Settling {
   public:
    explicit Settling(const Clock& clock) : clock_(clock) {}
    Settling(const Settling&) = delete;
    Settling& operator=(const Settling&) = delete;
    ~Settling() { clock_.rest(); }

   private:
    const Clock& clock_;
  };

  // The outcome has been published.
  void close_call() { state_ = State::idle; }

  // A time is written as its difference to the time before it in the segment.
  static std::uint8_t* write_difference(std::uint8_t* to, std::uint64_t time, std::uint64_t before) {
    return write_signed(to, static_cast<std::int64_t>(time - before));
  }

  template <class Results>
  void back(Kind kind, std::uint64_t end, const Results& results) {
    segment_->append(number_and_times + results.bound(), [&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(kind);
      return results.write(write_difference(to, end, written_));
    });
    written_ = end;
  }

  template <class WriteValues>
  void outcome(std::uint64_t number, std::uint64_t end, std::size_t bound, WriteValues&& write_values) {
    segment_->append(number_and_times + bound, [&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(Kind::outcome);
      to = write_difference(write_varint(to, number), start_, written_);
      return write_values(write_difference(to, end, start_));
    });
    written_ = end;
  }

  // Segments have few actions, so a linear search is the fastest.
  std::uint64_t number_of(const Action& action) {
    for (std::size_t number = 0; number < actions_.size(); ++number) {
      if (actions_[number] == &action) return number;
    }
    return define(action);
  }

  [[gnu::noinline]] std::uint64_t define(const Action& action) {
    const std::uint64_t number = actions_.size();
    if (number > 65535) fail("a segment has at most 65536 actions");
    std::size_t bound = 1 + 3 * longest_varint + bound_of_text(action.name());
    for (const Names* names : {&action.arguments(), &action.results()}) {
      for (const std::string_view name : *names) bound += bound_of_text(name);
    }
    // A number counts once it is published, and then nothing may fail any more.
    if (number == actions_.capacity()) actions_.reserve(2 * actions_.capacity() + 16);
    segment_->append(bound, [&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(Kind::action);
      to = write_text(write_varint(to, number), action.name());
      for (const Names* names : {&action.arguments(), &action.results()}) {
        to = write_varint(to, names->size());
        for (const std::string_view name : *names) to = write_text(to, name);
      }
      return to;
    });
    actions_.push_back(&action);
    return number;
  }

  // No operation may follow an unfinished one in the same process: it may still take effect, and then two operations
  // of one process would overlap. So the thread continues as another process, with its own segment.
  [[gnu::noinline]] void continue_elsewhere() {
    if (state_ == State::running) fail("a process runs one operation at a time, and one is unfinished");
    std::unique_ptr<Segment> next;
    while (!next) {  // The name may be taken.
      next = directory_->next_segment(process_ + "+" + std::to_string(++continuations_));
    }
    close();
    segment_ = std::move(next);
    begin_anew();
  }

  // The segment has no records yet.
  void begin_anew() {
    actions_.clear();
    operations_ = 0;
    written_ = 0;
    state_ = State::idle;
  }

  void close() {
    // The child of a fork has the mapping, too, and would end the segment that its parent still writes.
    if (!segment_ || ::getpid() != owner_) return;
    segment_->append_last([&](std::uint8_t* to) {
      *to++ = static_cast<std::uint8_t>(Kind::end);
      return write_varint(to, operations_);
    });
    segment_->cut();
    if (!is_close_checked_ && segment_->is_deleted()) directory_->note_deleted();
  }

  std::shared_ptr<Directory> directory_;
  Clock clock_;
  std::string process_;
  std::unique_ptr<Segment> segment_;
  std::vector<const Action*> actions_;  // By number.
  std::uint64_t operations_ = 0;
  std::uint64_t written_ = 0;  // The last time in the segment, from which the next one counts.
  std::uint64_t latest_ = 0;   // No operation starts earlier.
  unsigned continuations_ = 0;
  pid_t owner_ = ::getpid();
  bool is_close_checked_ = false;  // The caller gets an error if the file was deleted.

  // The open call.
  State state_ = State::idle;
  bool has_end_ = false;
  bool is_start_refined_ = false;
  const Action* action_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  const std::uint8_t* arguments_ = nullptr;  // In the segment, which never moves.
  std::size_t arguments_length_ = 0;
};

}  // namespace detail

// An operation that has begun. If it is destroyed without an outcome, the outcome is unknown: it may have taken
// effect at any time after its start, or not at all. It must not outlive its process.
class [[nodiscard]] Pending {
 public:
  Pending(Pending&& other) noexcept : log_(std::exchange(other.log_, nullptr)) {}
  Pending& operator=(Pending&&) = delete;

  ~Pending() {
    if (log_ != nullptr) log_->abandon();
  }

  // It returned now, or at the refined end, with a value for each result of the action.
  template <class... Results>
  void done(const Results&... results) {
    log().done(detail::row(results...));
    log_ = nullptr;
  }

  // It returned as `action`, with these arguments and results: each a tuple, or `Values`.
  template <class Arguments, class Results>
  void done_as(const Action& action, const Arguments& arguments, const Results& results) {
    log().done_as(action, detail::unpack(arguments), detail::unpack(results));
    log_ = nullptr;
  }
  template <class Arguments, class Results>
  void done_as(const Action&&, const Arguments&, const Results&) = delete;

  // It is known to have had no effect.
  void failed() {
    log().failed();
    log_ = nullptr;
  }

  // Its outcome is unknown: it timed out, or its connection broke. The same as destroying it.
  void unknown() {
    log().abandon();
    log_ = nullptr;
  }

  // Its outcome is unknown, but it cannot take effect from now on, or from the refined end on: it was cancelled, its lease
  // ran out, or the system was stopped.
  void unknown_by_now() {
    log().unknown_by_now();
    log_ = nullptr;
  }

  // A note, for display.
  template <class T>
  void meta(std::string_view key, const T& value) {
    log().meta(key, value);
  }

  // The call has done nothing so far.
  void refine_start() { log().refine_start(); }

  // The call has taken effect by now. The last mark counts.
  void refine_end() { log().refine_end(); }

 private:
  friend class Process;
  explicit Pending(detail::Log& log) : log_(&log) {}

  detail::Log& log() const {
    if (log_ == nullptr) detail::fail("the operation already has an outcome");
    return *log_;
  }

  detail::Log* log_;
};

// A thread, client or session that runs one operation at a time. Belongs to one thread at a time.
class Process {
 public:
  // Publishes that `action` begins, with a value for each of its arguments.
  template <class... Arguments>
  Pending call(const Action& action, const Arguments&... arguments) {
    log_->begin(action, detail::row(arguments...));
    return Pending(*log_);
  }
  template <class... Arguments>
  Pending call(const Action&&, const Arguments&...) = delete;

  // Removes all operations, none of which may be unfinished, so that another execution can be recorded in their place.
  void rewind() { log_->rewind(); }

  // Ends the segment, as destroying the process does, and fails if its file was deleted in the meantime. The process
  // must not be used afterwards.
  void close() { log_->close_and_check(); }

 private:
  friend class Recorder;
  explicit Process(std::unique_ptr<detail::Log> log) : log_(std::move(log)) {}

  std::unique_ptr<detail::Log> log_;
};

// A trace that is being recorded. Threads may share it.
class Recorder {
 public:
  // Creates the directory, which must not hold a trace, and writes its manifest. `meta` is a JSON object of notes for
  // display, or empty.
  static Recorder create(std::string directory, Clock clock = Clock::best(), std::string_view meta = {}) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::filesystem::directory_iterator entries(directory, error);
    if (error) detail::fail_because(error, "cannot create " + directory);
    for (const auto& entry : entries) {
      if (entry.path().extension() == ".seg") {
        detail::fail("`" + directory + "` already holds a trace; remove it, or record elsewhere");
      }
    }
    const std::string path = directory + "/manifest.json";
    std::string text = "{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"";
    text.append(clock.unit()).append("\"");
    if (!meta.empty()) text.append(", \"meta\": ").append(meta);
    text += "}\n";
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) detail::fail_with_errno("cannot create " + path);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) != 0 || !is_written) detail::fail_with_errno("cannot write " + path);
    return Recorder(std::make_shared<detail::Directory>(std::move(directory), clock));
  }

  // Begins the segment of a process. No two processes of a trace have the same name.
  Process process(std::string_view name) const { return Process(std::make_unique<detail::Log>(directory_, name)); }

 private:
  explicit Recorder(std::shared_ptr<detail::Directory> directory) : directory_(std::move(directory)) {}

  std::shared_ptr<detail::Directory> directory_;
};

}  // namespace omnilink
