// The calls of a harness to a runtime that controls it. The runtime here lets every thread run, and logs these calls.

#include <omnilink/drive.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace {

constexpr omnilink::Action ADD{"Add", {"a"}, {"b"}};

std::uint64_t steps = 0;
int executions = 0;
std::string logged;

std::uint64_t log_call(const char* what) {
  logged += (logged.empty() ? "" : " ") + std::string(what);
  return ++steps;
}

}  // namespace

extern "C" {
int omnilink_sched_is_controlled(void) { return 1; }
std::uint64_t omnilink_sched_call(void) { return log_call("call"); }
void omnilink_sched_settle(void) { logged += " settle"; }
std::uint64_t omnilink_sched_return(void) { return log_call("return"); }
void omnilink_sched_gate(std::uint32_t count) { log_call(count == 1 ? "gate" : "another gate"); }
int omnilink_sched_next(void) { return executions++ < 2 ? 1 : 0; }
}

// The logged calls if the outcome of a call cannot be written: recording has ended all the same.
static std::string calls_when_throwing(const std::string& directory) {
  const omnilink::Recorder recorder = omnilink::Recorder::create(directory);
  omnilink::Process process = recorder.process("p");
  try {
    auto call = process.call(ADD, 1);
    call.done(1, 2);
  } catch (const std::runtime_error&) {
    return std::exchange(logged, "");
  }
  return "nothing was thrown";
}

int main(int count, char** arguments) {
  const std::string root = count > 1 ? arguments[1] : "control-traces";
  std::filesystem::remove_all(root);
  ::setenv("OMNILINK_CLOCK", "monotonic", 1);
  omnilink::repeat([&] {
    omnilink::Plan plan;
    plan.trace = root + "/" + std::to_string(executions);
    plan.threads = 1;
    plan.operations = 2;
    plan.perturbation.crowd = 1;  // It is not started: the runtime would never choose it.
    int number = 0;
    omnilink::run(
        plan, number, [](int&, std::size_t) { return 0; },
        [](int& shared, int&, omnilink::Client& client) {
          auto call = client.call(ADD, shared);
          if (++shared == 2) {
            call.done_as(ADD, std::tuple(5), std::tuple(6));
          } else {
            call.done(shared);
          }
        });
  });
  const std::string in_order = std::exchange(logged, "");
  const std::string thrown = calls_when_throwing(root + "/thrown");
  const std::string once = "gate call settle return settle call settle return settle";
  std::ifstream file(root + "/2/manifest.json");
  const std::string manifest{std::istreambuf_iterator<char>(file), {}};
  const std::string expected =
      "{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"steps\", \"meta\": {\"seed\": 0, \"threads\": 1, "
      "\"operations\": 2, \"perturb\": \"\"}}\n";
  if (in_order == once + " " + once && thrown == "call settle return settle" && manifest == expected) return 0;
  std::cerr << in_order << "\n" << thrown << "\n" << manifest;
  return 1;
}
