// Records the calls of a script, so that recorders in different languages can be compared byte for byte.
//
//   script DIR < file
//
// One command per line, words separated by blanks; lines that begin with `#` are skipped:
//
//   process NAME            start the process NAME, which may have blanks, or continue it
//   time N                  the clock is at N from now on
//   call ACTION v v v       begin ACTION, with arguments by place
//   named ACTION a=v b=v    begin ACTION, with arguments by name
//   done v v  |  done a=v   it returned, with results by place or by name
//   as ACTION v v -- v      it returned as ACTION, with these arguments and results
//   failed                  it had no effect
//   drop                    its outcome is unknown
//   unknown                 the same, but it cannot take effect from now on
//   meta KEY v              a note
//   refine_start            the call has done nothing so far
//   refine_end              the call has taken effect by now
//   close NAME              end the process NAME
//
// Values: 12  -3  18446744073709551615  true  false  nil  1.5  "text"  [v v] a tuple  {v v} a set  (k v k v) a function. The results of an
// action are those of the `done` that follows its call.

#include <omnilink/recorder.hpp>

#include <cctype>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using omnilink::Value;

// Values in a row, each with a name or an empty one.
struct Row {
  std::vector<std::string> names;
  std::vector<Value> values;

  omnilink::Values view() const { return {values.data(), values.size()}; }
};

class Line {
 public:
  explicit Line(std::string text) : text_(std::move(text)) {}

  // At the end of the text, or at a comment.
  bool is_over() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size() || (at_ == 0 && text_[at_] == '#');
  }

  std::string word() {
    if (is_over()) throw std::runtime_error("a word is missing: " + text_);
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" []{}()").find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // The rest of the line.
  std::string rest() { return is_over() ? "" : text_.substr(at_); }

  Value value() {
    if (is_over()) throw std::runtime_error("a value is missing: " + text_);
    switch (text_[at_]) {
      case '"': return string();
      case '[': return Value::tuple(items(']'));
      case '{': return Value::set(items('}'));
      case '(': return Value::function(items(')'));
      default: break;
    }
    const std::string text = word();
    if (text == "nil") return nullptr;
    if (text == "true" || text == "false") return text == "true";
    if (text.find_first_of(".eE") != std::string::npos) return std::stod(text);
    if (text[0] != '-') return static_cast<std::uint64_t>(std::stoull(text));
    return static_cast<std::int64_t>(std::stoll(text));
  }

  // Values up to the end, or up to `--`.
  Row row() {
    Row row;
    while (!is_over()) {
      if (text_.compare(at_, 2, "--") == 0) {
        at_ += 2;
        break;
      }
      row.names.push_back(name());
      row.values.push_back(value());
    }
    return row;
  }

 private:
  // The name in `name=`, or nothing if a value follows.
  std::string name() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_')) ++end;
    if (end == at_ || end == text_.size() || text_[end] != '=') return "";
    std::string name = text_.substr(at_, end - at_);
    at_ = end + 1;
    return name;
  }

  Value string() {
    std::string text;
    for (++at_; text_.at(at_) != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      text += text_.at(at_);
    }
    ++at_;
    return text;
  }

  std::vector<Value> items(char close) {
    std::vector<Value> items;
    for (++at_; !is_over() && text_[at_] != close;) items.push_back(value());
    if (is_over()) throw std::runtime_error("a bracket is not closed: " + text_);
    ++at_;
    return items;
  }

  std::string text_;
  std::size_t at_ = 0;
};

// Actions by name and shape. They never move, because recorders identify them by their addresses.
class Actions {
 public:
  const omnilink::Action& find(const std::string& name, const Row& arguments, const Row& results) {
    auto& entry = entries_[{name, arguments.names, results.names}];
    if (!entry.action) {
      entry.name = name;
      entry.names = {arguments.names, results.names};
      const auto views = [](const std::vector<std::string>& names) {
        const std::vector<std::string_view> list(names.begin(), names.end());
        return omnilink::Names(list.data(), list.size());
      };
      entry.action = std::make_unique<omnilink::Action>(entry.name, views(entry.names[0]), views(entry.names[1]));
    }
    return *entry.action;
  }

 private:
  struct Entry {
    std::string name;
    std::array<std::vector<std::string>, 2> names;
    std::unique_ptr<omnilink::Action> action;
  };
  std::map<std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>, Entry> entries_;
};

struct Running {
  omnilink::Process process;
  std::optional<omnilink::Pending> pending = std::nullopt;
};

class Script {
 public:
  Script(const char* directory, std::vector<std::string> lines)
      : lines_(std::move(lines)),
        recorder_(omnilink::Recorder::create(directory, omnilink::Clock::manual(now_))) {}

  void run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line line(lines_[i]);
      if (!line.is_over()) step(line, i);
    }
  }

 private:
  void step(Line& line, std::size_t index) {
    const std::string command = line.word();
    if (command == "process") return switch_to(line.rest());
    if (command == "time") return now_.store(std::stoull(line.word()));
    if (command == "close") {
      running_.erase(line.rest());
      return;
    }
    Running& running = running_.at(current_);
    if (command == "call" || command == "named") {
      const std::string name = line.word();
      const Row arguments = line.row();
      running.pending.reset();
      running.pending.emplace(
          running.process.call(actions_.find(name, arguments, results_after(index)), arguments.view()));
      return;
    }
    omnilink::Pending& pending = running.pending.value();
    if (command == "done") {
      pending.done(line.row().view());
    } else if (command == "as") {
      const std::string name = line.word();
      const Row arguments = line.row();
      const Row results = line.row();
      pending.done_as(actions_.find(name, arguments, results), arguments.view(), results.view());
    } else if (command == "failed") {
      pending.failed();
    } else if (command == "unknown") {
      pending.unknown_by_now();
    } else if (command == "meta") {
      const std::string key = line.word();
      return pending.meta(key, line.value());
    } else if (command == "refine_start") {
      return pending.refine_start();
    } else if (command == "refine_end") {
      return pending.refine_end();
    } else if (command != "drop") {
      throw std::runtime_error("unknown command: " + command);
    }
    running.pending.reset();
  }

  void switch_to(const std::string& name) {
    current_ = name;
    if (running_.find(name) == running_.end()) running_.emplace(name, Running{recorder_.process(name)});
  }

  // The results of the call in line `index`.
  Row results_after(std::size_t index) const {
    std::string process = current_;
    for (std::size_t i = index + 1; i < lines_.size(); ++i) {
      Line line(lines_[i]);
      if (line.is_over()) continue;
      const std::string command = line.word();
      if (command == "process") process = line.rest();
      if (command == "close" && line.rest() == current_) return {};
      if (process != current_) continue;
      if (command == "done") return line.row();
      for (const char* const other : {"as", "failed", "drop", "unknown", "call", "named"}) {
        if (command == other) return {};
      }
    }
    return {};
  }

  std::vector<std::string> lines_;
  std::atomic<std::uint64_t> now_{0};
  omnilink::Recorder recorder_;
  Actions actions_;
  std::map<std::string, Running> running_;
  std::string current_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: script DIR < file\n";
    return 2;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  Script(arguments[1], std::move(lines)).run();
  return 0;
}
