// Scripts: the calls of a run as a text, one a line.
//
//   omnilink-script 1
//   T0 Enqueue elem=1
//   T1 Dequeue
//
// A line has the number of a thread, the name of a call, and its arguments with values in JSON: `null`, `true`, integers
// of 64 bits, strings and lists. Only the order of the lines of one thread counts. Empty lines and lines that begin with
// `#` are skipped. See `run_calls` in drive.hpp.
//
// Strings of a script are never freed, because those of a harness are literals.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control.hpp"
#include "error.hpp"

namespace omnilink {

namespace detail {

inline constexpr std::string_view script_header = "omnilink-script 1";

// A value in JSON.
inline std::string json(bool value) { return value ? "true" : "false"; }
inline std::string json(std::int64_t value) { return std::to_string(value); }
inline std::string json(const char* text) {
  std::string quoted = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') quoted += '\\';
    if (static_cast<unsigned char>(*text) < ' ') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(*text));
      quoted += escape;
    } else {
      quoted += *text;
    }
  }
  return quoted + '"';
}
template <class T>
std::string json(const std::optional<T>& value);
template <class T>
std::string json(const std::vector<T>& elements) {
  std::string list;
  for (const T& element : elements) list += (list.empty() ? "" : ", ") + json(element);
  return "[" + list + "]";
}
template <class T>
std::string json(const std::optional<T>& value) {
  return value ? json(*value) : "null";
}

// Reads a value of a type from the beginning of a text. Returns false if there is none.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool is_over() const { return rest_.empty(); }

  bool read(bool& value) {
    value = skip("true");
    return value || skip("false");
  }

  bool read(std::int64_t& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  bool read(const char*& value) {
    // Elements of a deque stay where they are.
    static std::deque<std::string> kept;
    std::string text;
    if (!skip("\"")) return false;
    while (!skip("\"")) {
      if (rest_.empty() || !character(text)) return false;
    }
    value = kept.emplace_back(std::move(text)).c_str();
    return true;
  }

  template <class T>
  bool read(std::optional<T>& value) {
    value.reset();
    return skip("null") || read(value.emplace());
  }

  template <class T>
  bool read(std::vector<T>& elements) {
    elements.clear();
    if (!skip("[")) return false;
    blanks();
    if (skip("]")) return true;
    while (true) {
      T element{};
      blanks();
      if (!read(element)) return false;
      elements.push_back(std::move(element));
      blanks();
      if (skip("]")) return true;
      if (!skip(",")) return false;
    }
  }

 private:
  bool skip(std::string_view word) {
    const bool is_here = rest_.substr(0, word.size()) == word;
    if (is_here) rest_.remove_prefix(word.size());
    return is_here;
  }

  void blanks() {
    while (skip(" ")) {
    }
  }

  // One character of a string.
  bool character(std::string& text) {
    if (!skip("\\")) {
      text += rest_.front();
      rest_.remove_prefix(1);
      return true;
    }
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char name = rest_.front();
    rest_.remove_prefix(1);
    if (name == 'u') return code(text);
    const std::size_t place = names.find(name);
    if (place == std::string_view::npos) return false;
    text += meanings[place];
    return true;
  }

  // The four digits of an escape, and those of the second half of a surrogate pair.
  bool code(std::string& text) {
    std::uint32_t point = 0;
    std::uint32_t second = 0;
    if (!unit(point) || (point >= 0xDC00 && point < 0xE000)) return false;
    if (point >= 0xD800 && point < 0xDC00) {
      if (!skip("\\u") || !unit(second) || second < 0xDC00 || second >= 0xE000) return false;
      point = 0x10000 + ((point - 0xD800) << 10U) + (second - 0xDC00);
    }
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (point < 0x80) {
      add(point);
    } else if (point < 0x800) {
      add(0xC0U | (point >> 6U));
      add(0x80U | (point & 0x3FU));
    } else {
      if (point < 0x10000) {
        add(0xE0U | (point >> 12U));
      } else {
        add(0xF0U | (point >> 18U));
        add(0x80U | ((point >> 12U) & 0x3FU));
      }
      add(0x80U | ((point >> 6U) & 0x3FU));
      add(0x80U | (point & 0x3FU));
    }
    return point != 0;  // A literal ends there.
  }

  bool unit(std::uint32_t& value) {
    if (rest_.size() < 4) return false;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, value, 16);
    if (error != std::errc() || end != rest_.data() + 4) return false;
    rest_.remove_prefix(4);
    return true;
  }

  std::string_view rest_;
};

// The name of a type of arguments.
template <class T>
struct ArgumentType;
template <>
struct ArgumentType<bool> {
  static std::string name() { return "`true` or `false`"; }
};
template <>
struct ArgumentType<std::int64_t> {
  static std::string name() { return "an integer"; }
};
template <>
struct ArgumentType<const char*> {
  static std::string name() { return "a string"; }
};
template <class T>
struct ArgumentType<std::vector<T>> {
  static std::string name() { return "a list with " + ArgumentType<T>::name() + " as each element"; }
};
template <class T>
struct ArgumentType<std::optional<T>> {
  static std::string name() { return ArgumentType<T>::name() + " or `null`"; }
};

}  // namespace detail

// A call in words. Errors are those of the recorder: see error.hpp.
class Line {
 public:
  Line() = default;

  // Reads the part of a line behind the thread; errors begin with `where`.
  Line(std::string_view text, std::string where) : where_(std::move(where)) {
    call_ = word(text);
    while (!text.empty()) add_text(text);
  }

  const std::string& call() const { return call_; }
  void set_call(std::string_view call) { call_ = call; }

  // Adds an argument.
  template <class T>
  void add(std::string_view name, const T& value) {
    arguments_.emplace_back(name, detail::json(value));
  }

  // Takes an argument out of the line.
  template <class T>
  T take(std::string_view name) {
    const auto is_named = [&](const auto& argument) { return argument.first == name; };
    const auto found = std::find_if(arguments_.begin(), arguments_.end(), is_named);
    if (found == arguments_.end()) fail("`" + call_ + "` needs the argument `" + std::string(name) + "`");
    detail::JsonReader reader(found->second);
    T value{};
    if (!reader.read(value) || !reader.is_over()) {
      fail("expected " + detail::ArgumentType<T>::name() + " as `" + found->first + "`, found `" + found->second + "`");
    }
    arguments_.erase(found);
    return value;
  }

  // The error for a call that has none of these names.
  [[noreturn]] void unknown(std::initializer_list<std::string_view> calls) const {
    std::string known;
    for (const std::string_view call : calls) known += (known.empty() ? "`" : "`, `") + std::string(call);
    fail("unrecognized call `" + call_ + "` (expected " + known + "`)");
  }

  // An argument that was not taken is an error.
  void end() const {
    if (!arguments_.empty()) fail("`" + call_ + "` has no argument `" + arguments_.front().first + "`");
  }

  std::string text() const {
    std::string text = call_;
    for (const auto& [name, value] : arguments_) text += " " + name + "=" + value;
    return text;
  }

  // Takes the first word from a text, and the blanks behind it.
  static std::string word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return std::string(word);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { detail::fail(where_ + message); }

  // Adds the argument at the beginning of a text, and takes it from there.
  void add_text(std::string_view& text) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (equals == std::string_view::npos || name.empty() || name.find(' ') != std::string::npos) {
      fail("expected an argument such as `key=1`, found `" + std::string(text) + "`");
    }
    for (const auto& argument : arguments_) {
      if (argument.first == name) fail("`" + name + "` occurs twice");
    }
    text.remove_prefix(equals + 1);
    const std::string_view value = text.substr(0, length(text));
    arguments_.emplace_back(name, value);
    text.remove_prefix(value.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }

  // The length of the value at the beginning of a text: up to a blank outside of strings and lists.
  static std::size_t length(std::string_view text) {
    bool is_string = false;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (is_string && text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        is_string = !is_string;
      } else if (!is_string) {
        depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
        if (text[i] == ' ' && depth <= 0) return i;
      }
    }
    return text.size();
  }

  std::string where_;
  std::string call_;
  std::vector<std::pair<std::string, std::string>> arguments_;
};

namespace detail {

// The calls of each thread, by thread.
template <class Call>
using Calls = std::vector<std::pair<std::size_t, std::vector<Call>>>;

// The text of a file. Streams of the C++ library would take locks, which are steps under control.
inline std::string read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_with_errno(path);
  std::string text;
  char part[4096];
  while (true) {
    const ::ssize_t length = ::read(file, part, sizeof part);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) {
      ::close(file);
      if (length < 0) fail_with_errno(path);
      return text;
    }
    text.append(part, static_cast<std::size_t>(length));
  }
}

// Reads a script; `read` makes a call of a line.
template <class Call, class Read>
Calls<Call> read_script(const std::string& path, const Read& read) {
  const std::string file = read_file(path);
  Calls<Call> calls;
  std::size_t at = 0;
  for (std::size_t number = 1; at < file.size() || number == 1; ++number) {
    const std::string where = path + ": line " + std::to_string(number) + ": ";
    const std::size_t end_of_line = std::min(file.find('\n', at), file.size());
    std::string text = file.substr(at, end_of_line - at);
    at = end_of_line + 1;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (number == 1) {
      if (text == script_header) continue;
      fail(where + "expected `" + std::string(script_header) + "`, found `" + text + "`");
    }
    std::string_view rest = text;
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
    if (rest.empty() || text.front() == '#') continue;
    const std::string name = Line::word(rest);
    std::size_t thread = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), thread);
    if (name.front() != 'T' || error != std::errc() || end != name.data() + name.size()) {
      fail(where + "expected a thread such as `T0`, found `" + name + "`");
    }
    Line line(rest, where);
    Call call = read(line);
    line.end();
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& of) { return of.first == thread; });
    auto& of = found == calls.end() ? calls.emplace_back(thread, std::vector<Call>()) : *found;
    of.second.push_back(std::move(call));
  }
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return calls;
}

// Writes the calls of a run to the file `script` of its trace.
//
// Under control each line is written before the call, so that the script survives any end of the program; that is no
// step. Threads that run freely would meet at the file, so they keep their calls until all have ended.
class ScriptWriter {
 public:
  explicit ScriptWriter(const std::string& trace) : path_(trace + "/script") {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) fail_with_errno(path_);
    write(std::string(script_header) + "\n");
  }
  ScriptWriter(const ScriptWriter&) = delete;
  ScriptWriter& operator=(const ScriptWriter&) = delete;
  ~ScriptWriter() { ::close(file_); }

  template <class Call, class Write>
  void add(std::size_t thread, const Call& call, const Write& write_call) const {
    const bool is_apart = is_controlled() && omnilink_sched_suppress != nullptr;  // An older runtime has none.
    if (is_apart) omnilink_sched_suppress();
    Line line;
    write_call(call, line);
    write("T" + std::to_string(thread) + " " + line.text() + "\n");
    if (is_apart) omnilink_sched_settle();
  }

 private:
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ::ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno != EINTR) fail_with_errno(path_);
      text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
  }

  std::string path_;
  int file_;
};

}  // namespace detail

}  // namespace omnilink
