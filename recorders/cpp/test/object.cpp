// Objects described by their calls: the list of calls, the matrix, serial orders, the random harness, and variables that
// are malformed. The runtime here lets every thread run, and its time is a counter, so that traces of serial executions
// are the same each time.

#include <omnilink/object.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

namespace {

std::atomic<std::uint64_t> steps{0};
std::atomic<std::uint32_t> gates{0};
int executions = 0;

}  // namespace

extern "C" {
int omnilink_sched_is_controlled(void) { return 1; }
std::uint64_t omnilink_sched_call(void) { return ++steps; }
void omnilink_sched_settle(void) {}
std::uint64_t omnilink_sched_return(void) { return ++steps; }
void omnilink_sched_gate(std::uint32_t count) { gates += count; }
int omnilink_sched_next(void) { return executions++ == 0 ? 1 : 0; }
}

namespace {

using namespace omnilink;

int failures = 0;

void check(const char* what, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  std::cerr << what << "\n  found\n" << found << "\n  expected\n" << expected << "\n";
  ++failures;
}

enum class Mood : char { calm, angry };

// Neither copied nor moved. Threads may call it.
class Box {
 public:
  explicit Box(int first) : value_(first) {}
  Box(const Box&) = delete;

  void put(int value) { value_ = value; }
  void put(const std::string& key, int value) { value_ = value + static_cast<int>(key.size()); }
  std::optional<int> get() const noexcept {
    const int value = value_;
    return value == 0 ? std::nullopt : std::optional(value);
  }
  Mood mood() { return Mood::angry; }
  void keep(std::vector<int>&& values) { value_ = static_cast<int>(values.size()); }

 private:
  std::atomic<int> value_;
};

// 0 and 1: put(200), put(400); 2: put("a\"", 1); 3: get(); and so on.
int run_box() {
  return object<Box>([] { return Box(0); })
      .call("put", static_cast<void (Box::*)(int)>(&Box::put), 200, 400)
      .call("put(key, value)", static_cast<void (Box::*)(const std::string&, int)>(&Box::put), std::tuple{"a\"\n", 1})
      .call("get", &Box::get)
      .call("mood", &Box::mood)
      .call("keep", &Box::keep, std::vector<int>{1, 2})
      .call("both", [](Box& box, bool twice) { return std::pair(box.get(), twice); }, true)
      .main();
}

// Runs the program with these variables.
template <class Run>
int with(const std::map<std::string, std::string>& variables, const Run& run) {
  executions = 0;
  steps = 0;
  gates = 0;
  for (const char* const name : {"CALLS", "MATRIX", "ORDERS", "SEED", "THREADS", "OPS"}) {
    ::unsetenv((std::string("OMNILINK_") + name).c_str());
  }
  for (const auto& [name, value] : variables) ::setenv(("OMNILINK_" + name).c_str(), value.c_str(), 1);
  return run();
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads the segments of a trace, as far as objects write them: one line per operation, in the order of their calls.
class Reader {
 public:
  static std::string read(const std::string& directory) {
    Reader reader;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".seg") reader.segment(content(entry.path().string()));
    }
    std::string text;
    for (const auto& [time, line] : reader.lines_) text += line + "\n";
    return text;
  }

 private:
  struct Shape {
    std::string name;
    std::vector<std::string> arguments;
    std::size_t results = 0;
  };

  void segment(const std::string& bytes) {
    std::size_t at = 9;  // Behind magic and version.
    const auto length = static_cast<std::size_t>(bytes[at]);
    const std::string process = bytes.substr(at + 1, length);
    at += 1 + length;
    std::map<std::uint64_t, Shape> shapes;
    std::uint64_t time = 0;
    std::uint64_t started = 0;
    std::uint64_t number = 0;
    while (at < bytes.size() && bytes[at] != 0) {
      const auto size = static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
      at_ = reinterpret_cast<const std::uint8_t*>(bytes.data()) + at + 1;
      at += 1 + size;
      switch (*at_++) {
        case 1: {
          const std::uint64_t defined = varint();
          Shape& shape = shapes[defined];
          shape.name = string();
          for (std::uint64_t count = varint(); count > 0; --count) shape.arguments.push_back(string());
          shape.results = static_cast<std::size_t>(varint());
          break;
        }
        case 3: {
          number = varint();
          started = time += difference();
          const Shape& shape = shapes[number];
          std::string line = process + " " + shape.name + "(";
          for (std::size_t i = 0; i < shape.arguments.size(); ++i) {
            line += (i == 0 ? "" : ", ") + shape.arguments[i] + ": " + value();
          }
          lines_[started] = line + ")";
          break;
        }
        case 4:
          time += difference();
          if (shapes[number].results == 1) lines_[started] += " = " + value();
          break;
        default: break;
      }
    }
  }

  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = *at_++;
      number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return number;
    }
  }
  std::uint64_t difference() {
    const std::uint64_t bits = varint();
    return (bits >> 1U) ^ ((bits & 1U) != 0 ? UINT64_MAX : 0U);
  }
  std::string string() {
    const auto length = static_cast<std::size_t>(varint());
    at_ += length;
    return {reinterpret_cast<const char*>(at_) - length, length};
  }
  std::string value() {
    detail::ValuePrinter printer(at_);
    std::string text = printer.next();
    at_ = printer.position();
    return text;
  }

  const std::uint8_t* at_ = nullptr;
  std::map<std::uint64_t, std::string> lines_;  // By the time of the call.
};

void list(const std::string& root) {
  with({{"CALLS", root + "/calls"}, {"MATRIX", "malformed"}}, run_box);
  check("calls", content(root + "/calls"),
        "put(200)\nput(400)\nput(\"a\\\"\\n\", 1)\nget()\nmood()\nkeep(<<1, 2>>)\nboth(TRUE)\n");
  const auto text = [](const auto& value) { return detail::text_of(value); };
  check("values", text(std::tuple(nullptr, -17, 176, UINT64_MAX, 1.5, 0.1, "\x01")),
        "<<nil, -17, 176, 18446744073709551615, 1.5, 0.1, \"\\u0001\">>");
  check("sets and functions", text(std::pair(std::set<int>{1, 2}, std::map<int, bool>{{1, true}, {2, false}})),
        "<<{1, 2}, (1 :> TRUE @@ 2 :> FALSE)>>");
  check("long strings", text(std::string(40, 'x')), "\"" + std::string(40, 'x') + "\"");
}

void matrix(const std::string& root) {
  // One column, so that the order is known; the second has no calls.
  const std::string trace = root + "/matrix";
  check("code", std::to_string(with({{"TRACE", trace}, {"MATRIX", "3 0;3 1 2  6;;4 5 3"}}, run_box)), "0");
  check("matrix", Reader::read(trace),
        "main get() = nil\nmain put(arg0: 200)\n0 get() = 200\n0 put(arg0: 400)\n0 put(key: \"a\\\"\\n\", value: 1)\n"
        "0 both(arg0: TRUE) = <<4, TRUE>>\nmain mood() = 1\nmain keep(arg0: <<1, 2>>)\nmain get() = 2\n");
  check("gates", std::to_string(gates), "4");  // Each of two threads says that there are two.
  check("manifest", content(trace + "/manifest.json"),
        "{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"steps\", "
        "\"meta\": {\"matrix\": \"3 0;3 1 2  6;;4 5 3\", \"orders\": 0}}\n");
  // Without calls before and after there is no process for them.
  with({{"TRACE", root + "/alone"}, {"MATRIX", ";3;"}}, run_box);
  check("no main", std::to_string(std::filesystem::exists(root + "/alone/001.seg")), "0");
}

void orders(const std::string& root) {
  const std::string trace = root + "/orders";
  with({{"TRACE", trace}, {"MATRIX", "0;3 1;3;3"}, {"ORDERS", "001 010 100"}}, run_box);
  const std::string before = "main put(arg0: 200)\n";
  check("orders", Reader::read(trace),
        before + "0 get() = 200\n0 put(arg0: 400)\n1 get() = 400\nmain get() = 400\n" +  //
            before + "0 get() = 200\n1 get() = 200\n0 put(arg0: 400)\nmain get() = 400\n" +
            before + "1 get() = 200\n0 get() = 200\n0 put(arg0: 400)\nmain get() = 400\n");
  // An operation runs on the thread of its column, which is another one for each word.
  struct Who {
    std::map<std::thread::id, int> seen;
    int ask() { return seen.try_emplace(std::this_thread::get_id(), static_cast<int>(seen.size())).first->second; }
  };
  with({{"TRACE", root + "/threads"}, {"MATRIX", ";0 0;0;0"}, {"ORDERS", "100 010"}},
       [] { return object<Who>([] { return std::make_unique<Who>(); }).call("ask", &Who::ask).main(); });
  check("threads", Reader::read(root + "/threads"),
        "1 ask() = 0\n0 ask() = 1\n0 ask() = 1\nmain ask() = 2\n0 ask() = 0\n1 ask() = 1\n0 ask() = 0\nmain ask() = 2\n");
}

void random(const std::string& root) {
  with({{"TRACE", root + "/random"}, {"SEED", "3"}, {"THREADS", "1"}, {"OPS", "4"}}, run_box);
  std::string expected;
  Draw draw(3, 0, 1);
  const char* const names[] = {"put", "put", "put", "get", "mood", "keep", "both"};
  for (std::size_t i = 0; i < 4; ++i) {
    draw.begin(i, 4);
    expected.append(names[draw.below(7)]).append(" ");
  }
  std::string drawn;
  const std::string text = Reader::read(root + "/random");
  for (std::size_t at = 0; (at = text.find("0 ", at)) != std::string::npos; at = text.find('\n', at)) {
    drawn += text.substr(at + 2, text.find('(', at) - at - 2) + " ";
  }
  check("random", drawn, expected);
}

// The exit code and the message of a program that ends by itself.
std::string refusal(const std::string& root, const std::map<std::string, std::string>& variables) {
  const std::string path = root + "/message";
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(path.c_str(), "w", stderr) == nullptr) ::_exit(1);
    ::_exit(with(variables, run_box));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + " " + content(path);
}

void malformed(const std::string& root) {
  check("two fields", refusal(root, {{"MATRIX", "0;1"}}),
        "2 omnilink: OMNILINK_MATRIX is `0;1`, expected at least three fields: `before;thread 0;after`\n");
  for (const char* const word : {"7", "x", "-1", "1x", "99999999999999999999"}) {
    const std::string text = ";0 " + std::string(word) + ";";
    check("number", refusal(root, {{"MATRIX", text}}),
          "2 omnilink: OMNILINK_MATRIX is `" + text + "` and has `" + word +
              "`, expected the number of a call, from 0 to 6\n");
  }
  for (const char* const word : {"0", "011", "02", "0-", "00"}) {
    check("order", refusal(root, {{"MATRIX", ";0;1;"}, {"ORDERS", word}}),
          "2 omnilink: OMNILINK_ORDERS has `" + std::string(word) +
              "`, expected each thread of `;0;1;` once for each of its calls\n");
  }
  check("no matrix", refusal(root, {{"ORDERS", "01"}}),
        "2 omnilink: OMNILINK_ORDERS is set, expected OMNILINK_MATRIX beside it\n");
  check("seed", refusal(root, {{"SEED", "x"}}),
        "2 omnilink: OMNILINK_SEED is `x`, expected a number from 0 to 2^64 - 1\n");
  check("file", refusal(root, {{"CALLS", root + "/none/calls"}}),
        "2 omnilink: cannot write `" + root + "/none/calls`: No such file or directory\n");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string root = count > 1 ? arguments[1] : "object-traces";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  malformed(root);  // First: forks while there is one thread.
  list(root);
  matrix(root);
  orders(root);
  random(root);
  return failures == 0 ? 0 : 1;
}
