// The bytes that a recorder writes, and the values that it rejects.

#include <omnilink/drive.hpp>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>

namespace {

using namespace omnilink;
using namespace std::string_literals;

int failures = 0;

template <class A, class B>
void check(const char* what, const A& found, const B& expected) {
  if (found == expected) return;
  std::cerr << what << "\n  found    " << found << "\n  expected " << expected << "\n";
  ++failures;
}

std::string hex(const std::uint8_t* first, const std::uint8_t* last) {
  std::string text;
  for (; first != last; ++first) {
    char two[4];
    std::snprintf(two, sizeof two, "%02X ", *first);
    text += two;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

template <class T>
std::string bytes(const T& value) {
  std::vector<std::uint8_t> buffer(detail::bound(value) + detail::room_beyond);
  return hex(buffer.data(), detail::write(buffer.data(), value));
}

void values() {
  check("integers", bytes(std::tuple(-17, -16, 0, 175, 176)), "06 05 03 21 40 50 FF 03 E0 02");
  check("smallest", bytes(std::numeric_limits<std::int64_t>::min()), "03 FF FF FF FF FF FF FF FF FF 01");
  check("largest", bytes(std::numeric_limits<std::int64_t>::max()), "03 FE FF FF FF FF FF FF FF FF 01");
  check("types", bytes(std::tuple(std::uint8_t{200}, std::uint64_t{200}, short{-1})), "06 03 03 90 03 03 90 03 4F");
  enum class Size : unsigned char { small = 1, large = 200 };
  check("enumerations", bytes(std::pair(Size::small, Size::large)), "06 02 51 03 90 03");
  check("truth", bytes(std::pair(true, false)), "06 02 02 01");
  check("number", bytes(1.5), "04 00 00 00 00 00 00 F8 3F");
  check("nil", bytes(std::tuple(nullptr, std::nullopt, std::optional<int>())), "06 03 00 00 00");
  check("optional", bytes(std::optional("a"s)), "21 61");
  check("strings", bytes(std::tuple("", "a", "b"s, std::string_view("c"))), "06 04 20 21 61 21 62 21 63");
  check("31 bytes", bytes(std::string(31, 'a')).substr(0, 5), "3F 61");
  check("32 bytes", bytes(std::string(32, 'a')).substr(0, 8), "05 20 61");
  check("UTF-8", bytes("é€😀"), "29 C3 A9 E2 82 AC F0 9F 98 80");
  check("array", bytes(std::array<bool, 2>{true, false}), "06 02 02 01");
  check("vector", bytes(std::vector<bool>{true, false}), "06 02 02 01");
  check("set", bytes(std::set<int>{2, 1}), "07 02 51 52");
  check("map", bytes(std::map<std::string, int>{{"b", 2}, {"a", 1}}), "08 02 21 61 51 21 62 52");
  check("dynamic", bytes(Value::tuple({1, nullptr, true, 1.5, "a", Value::set({2}), Value::function({"k", 3})})),
        "06 07 51 00 02 04 00 00 00 00 00 00 F8 3F 21 61 07 01 52 08 01 21 6B 53");
}

void varints() {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t number : {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit}) {
      std::uint8_t buffer[32] = {};
      const std::uint8_t* const end = detail::write_varint(buffer, number);
      std::uint64_t back = 0;
      for (const std::uint8_t* at = end; at != buffer; --at) back = (back << 7U) | (at[-1] & 0x7FU);
      check("varint", back, number);
      check("last byte", *(end - 1) < 0x80 && (end - buffer == 1 || *(end - 1) != 0), true);
    }
  }
}

// Runs `work` with its own trace, and returns its segments.
class Trace {
 public:
  Trace(const std::string& root, const char* name) : directory_(root + "/" + name) {
    std::filesystem::remove_all(directory_);
  }

  const std::string& directory() const { return directory_; }

  std::string segment(const char* name) const {
    std::ifstream file(directory_ + "/" + name, std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
    const auto* const first = reinterpret_cast<const std::uint8_t*>(content.data());
    return hex(first, first + content.size());
  }

 private:
  std::string directory_;
};

const std::string magic = "89 4F 4D 4E 49 53 45 47 01 ";

constexpr Action GET{"get", {""}, {""}};
constexpr Action PUT{"p", {"k", "v"}};

void outcomes(const std::string& root) {
  const Trace trace(root, "outcomes");
  std::atomic<std::uint64_t> now{1000};
  {
    const Recorder recorder = Recorder::create(trace.directory(), Clock::manual(now));
    Process process = recorder.process("c1");
    auto get = process.call(GET, 1);
    now = 1050;
    get.done(7);
    now = 1040;  // A start is never before the end of the previous operation.
    auto put = process.call(PUT, 1, 2);
    now = 1050;
    put.meta("n", "x");
    put.failed();
    auto refined = process.call(GET, 2);
    now = 1100;
    refined.refine_start();
    now = 1200;
    refined.refine_end();
    now = 1300;
    refined.done(false);
    auto other = process.call(GET, 3);
    other.done_as(PUT, std::tuple("a", 4), std::tuple());
    { auto dropped = process.call(GET, 4); }
    auto next = process.call(GET, 5);
    now = 1301;
    next.done(nullptr);
    { auto open = process.call(PUT, 1, 1); }
  }
  check("segment", trace.segment("000.seg"),
        magic + "02 63 31 0A 01 00 03 67 65 74 01 00 01 00 05 03 00 D0 0F 51 03 04 64 57 " +
            "0A 01 01 01 70 02 01 6B 01 76 00 05 03 01 00 51 52 05 06 01 6E 21 78 02 05 00 " +
            "04 03 00 00 52 07 08 00 64 C8 01 52 01 05 03 00 C8 01 53 07 08 01 00 00 21 61 54 " +
            "04 03 00 00 54 02 07 05");
  check("next segment", trace.segment("001.seg"),
        magic + "04 63 31 2B 31 0A 01 00 03 67 65 74 01 00 01 00 05 03 00 A8 14 55 03 04 02 00 " +
            "0A 01 01 01 70 02 01 6B 01 76 00 05 03 01 00 51 51 02 07 02");
}

// Around the length at which records become long, for texts whose bound is and is not exact.
void long_records(const std::string& root) {
  for (const std::size_t length : {244U, 248U, 249U, 250U, 251U, 252U, 300U, 200000U}) {
    const Trace trace(root, "long");
    std::atomic<std::uint64_t> now{0};
    {
      const Recorder recorder = Recorder::create(trace.directory(), Clock::manual(now));
      Process process = recorder.process("");
      auto call = process.call(GET, std::string(length, 'a'));
      call.refine_start();
      call.done(1);
    }
    // The text and its tag, length and, in a call and its outcome, kind, number and times.
    const std::size_t body = length + 1 + (length < 16384 ? 2 : 3) + 3;
    const std::size_t around = body < 255 ? 1 : 5;
    const std::size_t outcome = body + 2;
    const std::size_t size = 10 + 11 + around + body + (outcome < 255 ? 1 : 5) + outcome + 3;
    check("size", std::filesystem::file_size(trace.directory() + "/000.seg"), size);
    check("end", trace.segment("000.seg").substr(3 * (size - 3)), "02 07 01");
  }
}

// The bytes behind the end record before the file is truncated, after `work`.
template <class Work>
std::string behind_the_end(const std::string& root, const Work& work) {
  const Trace trace(root, "stained");
  std::filesystem::create_directories(trace.directory());
  detail::Segment segment(trace.directory() + "/000.seg", "");
  work(segment);
  segment.append_last([](std::uint8_t* to) { return std::copy_n("\7", 2, to); });
  std::string rest = trace.segment("000.seg");
  const std::size_t end = rest.find(" 02 07 00");
  if (end == std::string::npos) return "no end record";
  rest.erase(0, end + 9);
  return rest.find_first_not_of(" 0") == std::string::npos ? "zeros" : "something else";
}

void stains(const std::string& root) {
  const auto fill = [](std::size_t length) {
    return [length](std::uint8_t* to) { return std::fill_n(to, length, std::uint8_t{0xAA}); };
  };
  const auto fails = [&fill](detail::Segment& segment, std::size_t length) {
    try {
      segment.append(length, [&](std::uint8_t* to) -> std::uint8_t* {
        fill(length)(to);
        throw std::runtime_error("told to");
      });
    } catch (const std::runtime_error&) {
      return;
    }
    check("exception", "swallowed"s, "thrown");
  };
  check("nothing", behind_the_end(root, [&](detail::Segment& segment) { segment.append(7, fill(7)); }), "zeros");
  check("short body", behind_the_end(root, [&](detail::Segment& segment) { fails(segment, 100); }), "zeros");
  check("long body", behind_the_end(root, [&](detail::Segment& segment) {
          fails(segment, 100'000);
          segment.append(7, fill(7));
          fails(segment, 10);
        }),
        "zeros");
  check("too long body", behind_the_end(root, [&](detail::Segment& segment) {
          const std::size_t length = (std::size_t{1} << 24U) + 1;
          try {
            segment.append(length, fill(length));
          } catch (const std::runtime_error&) {
          }
        }),
        "zeros");
}

void refusals(const std::string& root) {
  const Trace trace(root, "refusals");
  const Recorder recorder = Recorder::create(trace.directory());
  Process process = recorder.process("0");
  const auto refused = [](const std::function<void()>& work) {
    try {
      work();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return "nothing was refused"s;
  };
  check("count", refused([&] { auto call = process.call(PUT, 1); }), "omnilink: `p` has 2 arguments, and 1 are given");
  check("number", refused([&] { auto call = process.call(GET, NAN); }),
        "omnilink: only finite numbers can be recorded");
  check("two at a time", refused([&] {
          auto call = process.call(GET, 1);
          auto second = process.call(GET, 2);
        }),
        "omnilink: a process runs one operation at a time, and one is unfinished");
  check("two outcomes", refused([&] {
          auto call = process.call(GET, 1);
          call.done(1);
          call.done(1);
        }),
        "omnilink: the operation already has an outcome");
  const auto nested = [](int levels) {
    Value value = 1;
    for (int i = 0; i < levels; ++i) value = Value::tuple({value});
    return value;
  };
  const std::string too_deep = "omnilink: tuples, sets and functions nest at most 32 deep";
  const auto records = [&](const auto& value) {
    return refused([&] { process.call(GET, value).done(1); });
  };
  check("depth", records(nested(33)), too_deep);
  check("depth in a vector", records(std::vector{nested(32)}), too_deep);
  check("depth in a tuple", records(std::tuple(nested(32))), too_deep);
  check("depth in an array of vectors", records(std::array{std::vector{nested(31)}}), too_deep);
  check("depth in a map", records(std::map<int, Value>{{1, nested(32)}}), too_deep);
  check("all levels", records(std::vector{nested(31)}), "nothing was refused");
  check("too long", refused([&] { auto call = process.call(GET, std::string(1U << 24U, 'a')); }),
        "omnilink: a record has at most 16 MiB");
  // A name that cannot be published has no number, however often it is used.
  const std::string long_name(1U << 24U, 'a');
  const Action unspeakable(long_name);
  for (int i = 0; i < 2; ++i) {
    check("long name", refused([&] { auto call = process.call(unspeakable); }),
          "omnilink: a record has at most 16 MiB");
  }
  check("long process", refused([&] { recorder.process(std::string(241, 'a')); }),
        "omnilink: the name of a process has at most 240 bytes");
  const std::string not_text =
      "omnilink: a string that is not UTF-8 cannot be recorded; record its bytes as a vector of integers";
  check("not UTF-8", records(std::string("a\xFF\xC3")), not_text);
  check("surrogate", records("\xED\xA0\x80"), not_text);
  check("process not UTF-8", refused([&] { recorder.process("a\xFF"); }), not_text);
  check("same trace", refused([&] { Recorder::create(trace.directory()); }),
        "omnilink: `" + trace.directory() + "` already holds a trace; remove it, or record elsewhere");
  check("same name", refused([&] { recorder.process("0"); }), "omnilink: process `0` already exists");
  check("perturbation", refused([] { Perturbation::parse("yield=2,nap"); }),
        "omnilink: OMNILINK_PERTURB has `nap`, expected `yield=N`, `nap=N`, `pin` or `crowd=N`");
}

// The numbers that the Rust driver draws from the same seed.
void draws() {
  Draw draw(42, 1, 3);
  std::string drawn;
  for (int i = 0; i < 4; ++i) drawn += std::to_string(draw.below(1000)) + " ";
  check("below", drawn, "69 656 463 94 ");
  check("range", draw.range(-5, 5), 0);
  check("whole range", draw.range(INT64_MIN, INT64_MAX), -1897475051198286469);
  check("narrow range", draw.range(7, 7), 7);
  check("one of", draw.one_of({"a"s, "b"s, "c"s}), "c");
  check("weighted", draw.weighted({1, 0, 5}), 2U);
  const std::int64_t fresh = draw.fresh();
  check("fresh", fresh, 1);
  check("fresh again", draw.fresh(), 4);
  draw.begin(0, 4);
  draw.below(1000);
  draw.begin(2, 4);
  check("of an operation", draw.below(1000), 631U);
  check("of an operation again", draw.below(1000), 351U);
  const std::int64_t fresh_there = draw.fresh();
  check("fresh in an operation", fresh_there, 7);
  check("fresh again in an operation", draw.fresh(), 19);
  const Only only("0:1,3 2:0");
  check("only", only.has(0, 3) && only.has(2, 0) && !only.has(0, 0) && !only.has_thread(1), true);
  check("perturbation", Perturbation::parse("pin, crowd=2,nap=50,yield=4").text(), "yield=4,nap=50,pin,crowd=2");
}

// A call with an argument of each type.
struct Put {
  std::int64_t key;
  const char* text;
  std::vector<std::int64_t> list;
  bool flag;
  std::optional<std::int64_t> maybe;
};

Put read_put(Line& line) {
  if (line.call() != "Put") line.unknown({"Put"});
  return Put{line.take<std::int64_t>("key"), line.take<const char*>("text"),
             line.take<std::vector<std::int64_t>>("list"), line.take<bool>("flag"),
             line.take<std::optional<std::int64_t>>("maybe")};
}

void write_put(const Put& put, Line& line) {
  line.set_call("Put");
  line.add("key", put.key);
  line.add("text", put.text);
  line.add("list", put.list);
  line.add("flag", put.flag);
  line.add("maybe", put.maybe);
}

// The same lines, and the same errors, as those of the Rust driver.
void scripts(const std::string& root) {
  std::filesystem::create_directories(root);
  const std::string path = root + "/script";
  const auto read = [&](const std::string& lines) -> std::string {
    std::ofstream(path) << lines;
    std::string shown;
    try {
      for (const auto& [thread, calls] : detail::read_script<Put>(path, read_put)) {
        for (const Put& call : calls) {
          Line line;
          write_put(call, line);
          shown += "T" + std::to_string(thread) + " " + line.text() + "\n";
        }
      }
    } catch (const std::runtime_error& error) {
      shown = error.what();
      shown = shown.substr(shown.find("script: ") + 8);
    }
    return shown;
  };
  const std::string header = "omnilink-script 1\n";
  const std::string one = R"(T3 Put key=-9223372036854775808 text="a b=\"c\" \\ # \u000a \u0001 é 😀" list=[1, -2] flag=true maybe=7)";
  const std::string two = R"(T0 Put key=1 text="" list=[] flag=false maybe=null)";
  check("as written", read(header + "\n" + one + "\n# then\n" + two + "\n"), two + "\n" + one + "\n");
  check("escapes", read(header + R"(  T0   Put maybe=1 list=[ 1 , 2 ] flag=true text="\u00e9\ud83d\ude00\/\t" key=1 )"),
        "T0 Put key=1 text=\"é😀/\\u0009\" list=[1, 2] flag=true maybe=1\n");
  check("header", read("omnilink-script 2\n"), "line 1: expected `omnilink-script 1`, found `omnilink-script 2`");
  check("nothing", read(""), "line 1: expected `omnilink-script 1`, found ``");
  check("thread", read(header + "Put"), "line 2: expected a thread such as `T0`, found `Put`");
  check("call", read(header + "T0 Get"), "line 2: unrecognized call `Get` (expected `Put`)");
  check("missing", read(header + "T0 Put key=1"), "line 2: `Put` needs the argument `text`");
  check("unknown", read(header + two + " x=1"), "line 2: `Put` has no argument `x`");
  check("twice", read(header + "T0 Put key=1 key=2"), "line 2: `key` occurs twice");
  check("no name", read(header + "T0 Put 1"), "line 2: expected an argument such as `key=1`, found `1`");
  check("type", read(header + "T0 Put key=1.5"), "line 2: expected an integer as `key`, found `1.5`");
  check("large", read(header + "T0 Put key=9223372036854775808"),
        "line 2: expected an integer as `key`, found `9223372036854775808`");
  check("string", read(header + "T0 Put key=1 text=\"a"), "line 2: expected a string as `text`, found `\"a`");
  check("list", read(header + "T0 Put key=1 text=\"\" list=[1,true]"),
        "line 2: expected a list with an integer as each element as `list`, found `[1,true]`");
}

// A run writes its calls, and its script makes them again.
void scripted_runs(const std::string& root) {
  const auto run = [&](const std::string& name, const std::string& script) {
    Plan plan;
    plan.trace = root + "/" + name;
    plan.seed = 7;
    plan.threads = 3;
    plan.operations = 20;
    plan.script = script;
    std::filesystem::remove_all(plan.trace);
    std::atomic<int> sum{0};
    run_calls<std::int64_t>(
        plan, sum, [](std::atomic<int>&, std::size_t) { return 0; },
        [](std::atomic<int>&, int, Draw& draw) -> std::optional<std::int64_t> {
          if (draw.below(4) == 0) return std::nullopt;
          return draw.range(-5, 5);
        },
        [](std::atomic<int>& shared, int, Client& client, std::int64_t by) {
          auto call = client.call(GET, by);
          shared += static_cast<int>(by);
          call.done(1);
        },
        [](Line& line) { return line.take<std::int64_t>("by"); },
        [](std::int64_t by, Line& line) {
          line.set_call("Add");
          line.add("by", by);
        });
    std::ifstream file(plan.trace + "/script");
    return std::string{std::istreambuf_iterator<char>(file), {}} + "sum " + std::to_string(sum.load());
  };
  const std::string drawn = run("drawn", "");
  check("number of calls", std::count(drawn.begin(), drawn.end(), '\n') > 30, true);
  check("again", run("again", root + "/drawn/script"), drawn);
  std::ofstream(root + "/edited") << "omnilink-script 1\nT4 Add by=2\nT1 Add by=5\nT4 Add by=3\n";
  check("edited", run("edited-trace", root + "/edited"),
        "omnilink-script 1\nT1 Add by=5\nT4 Add by=2\nT4 Add by=3\nsum 10");
}

// The error, or the plan as rendered by `show`, with a variable set.
template <class Show>
std::string with_variable(const char* variable, const char* value, const Show& show) {
  ::setenv(variable, value, 1);
  std::string result;
  try {
    result = show();
  } catch (const std::runtime_error& error) {
    result = error.what();
  }
  ::unsetenv(variable);
  return result;
}

void variables() {
  const auto plan = [] {
    const Plan read = Plan::from_env();
    return read.trace + " " + std::to_string(read.threads) + " x " + std::to_string(read.operations);
  };
  for (const char* const variable : {"TRACE", "SEED", "THREADS", "OPS", "PERTURB"}) {
    check("empty", with_variable(("OMNILINK_"s + variable).c_str(), "", plan), "trace 2 x 100");
  }
  check("no operations", with_variable("OMNILINK_OPS", "0", plan), "trace 2 x 0");
  check("no threads", with_variable("OMNILINK_THREADS", "0", plan),
        "omnilink: OMNILINK_THREADS is 0, expected at least one thread");
  const auto clock = [] { return Clock::best().is_counter() ? "counter"s : "monotonic"s; };
  const std::string best = clock();
  check("empty clock", with_variable("OMNILINK_CLOCK", "", clock), best);
  check("monotonic", with_variable("OMNILINK_CLOCK", "monotonic", clock), "monotonic");
  check("counter", with_variable("OMNILINK_CLOCK", "tsc", clock),
        best == "counter" ? best : "omnilink: OMNILINK_CLOCK is `tsc`, which is not reliable on this machine");
}

// A full disk is an exception, and earlier records are whole, the end record included.
void full_disk(const std::string& root) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = 70'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  for (std::size_t size = 1; size < 60; ++size) {
    const std::string directory = root + "/full" + std::to_string(size);
    std::filesystem::remove_all(directory);
    std::string said;
    try {
      auto process = Recorder::create(directory, Clock::monotonic()).process("p");
      for (;;) process.call(GET, std::string(size, 'x')).done(1);
    } catch (const std::exception& error) {
      said = error.what();
    }
    check("full disk", said.find("cannot extend") != std::string::npos, true);
    std::ifstream file(directory + "/000.seg", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // The end record has at most five bytes before the count has another one, and nothing follows it.
    check("end record", bytes.size() > 60'000 && bytes.substr(bytes.size() - 5).find('\7') != std::string::npos, true);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

void deleted(const std::string& root) {
  const std::string directory = root + "/deleted";
  std::filesystem::remove_all(directory);
  const auto recorder = Recorder::create(directory, Clock::monotonic());
  auto there = recorder.process("p");
  there.call(GET, 1).done(2);
  there.close();
  auto process = recorder.process("q");
  process.call(GET, 1).done(2);
  std::filesystem::remove_all(directory);
  std::string said;
  try {
    process.close();
  } catch (const std::exception& error) {
    said = error.what();
  }
  check("deleted", said, "omnilink: `" + directory + "/001.seg` was deleted while it was recorded");
}

void clocks() {
  const Clock clock = Clock::best();
  std::uint64_t before = Clock::monotonic().start();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t start = clock.start();
    const std::uint64_t end = clock.end();
    check("order", start <= end, true);
  }
  const std::uint64_t now = clock.end();
  check("scale", now + 1'000'000 > before && now < Clock::monotonic().end() + 1'000'000, true);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string root = count > 1 ? arguments[1] : "unit-traces";
  values();
  varints();
  outcomes(root);
  long_records(root);
  stains(root);
  refusals(root);
  full_disk(root);
  deleted(root);
  draws();
  scripts(root);
  scripted_runs(root);
  variables();
  clocks();
  return failures == 0 ? 0 : 1;
}
