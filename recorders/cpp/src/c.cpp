// The C interface, in terms of the C++ one.

#include <omnilink/recorder.h>
#include <omnilink/recorder.hpp>

#include <optional>
#include <vector>

struct omnilink_recorder {
  omnilink::Recorder recorder;
};

struct omnilink_action {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  omnilink::Action action;

  omnilink_action(const char* called, std::vector<std::string> of_arguments, std::vector<std::string> of_results)
      : name(called),
        arguments(std::move(of_arguments)),
        results(std::move(of_results)),
        action(name, names(arguments), names(results)) {}

 private:
  static omnilink::Names names(const std::vector<std::string>& list) {
    const std::vector<std::string_view> views(list.begin(), list.end());
    return {views.data(), views.size()};
  }
};

struct omnilink_process {
  omnilink::Process process;
  std::optional<omnilink::Pending> pending;
  const omnilink_action* action = nullptr;
};

// A value of C is written directly, without a copy.
template <>
struct omnilink::Encoding<omnilink_value> {
  static std::size_t bound(const omnilink_value& value) {
    switch (value.kind) {
      case OMNILINK_NIL:
      case OMNILINK_BOOL: return 1;
      case OMNILINK_INT: return detail::bound(value.as.integer);
      case OMNILINK_UINT: return detail::bound(value.as.natural);
      case OMNILINK_DOUBLE: return detail::bound(value.as.number);
      case OMNILINK_STRING: return detail::bound(std::string_view(value.as.text, value.length));
      case OMNILINK_FUNCTION:
        if (value.length % 2 != 0) detail::fail("a function has a result for each argument");
        [[fallthrough]];
      case OMNILINK_TUPLE:
      case OMNILINK_SET: return bound_of_items(value);
    }
    detail::fail("a value has an unknown kind");
  }

  static std::uint8_t* write(std::uint8_t* to, const omnilink_value& value) {
    switch (value.kind) {
      case OMNILINK_NIL: return detail::write(to, nullptr);
      case OMNILINK_BOOL: return detail::write(to, value.as.truth);
      case OMNILINK_INT: return detail::write(to, value.as.integer);
      case OMNILINK_UINT: return detail::write(to, value.as.natural);
      case OMNILINK_DOUBLE: return detail::write(to, value.as.number);
      case OMNILINK_STRING: return detail::write(to, std::string_view(value.as.text, value.length));
      case OMNILINK_TUPLE: return write_items(to, detail::tuple_tag, value.length, value);
      case OMNILINK_SET: return write_items(to, detail::set_tag, value.length, value);
      case OMNILINK_FUNCTION: return write_items(to, detail::function_tag, value.length / 2, value);
    }
    detail::fail("a value has an unknown kind");  // `bound` has already rejected it.
  }

 private:
  static std::size_t bound_of_items(const omnilink_value& value) {
    const detail::Level level;
    std::size_t sum = 1 + detail::longest_varint;
    for (std::size_t i = 0; i < value.length; ++i) sum += bound(value.as.items[i]);
    return sum;
  }

  static std::uint8_t* write_items(std::uint8_t* to, std::uint8_t tag, std::size_t count, const omnilink_value& value) {
    *to++ = tag;
    to = detail::write_varint(to, count);
    for (std::size_t i = 0; i < value.length; ++i) to = write(to, value.as.items[i]);
    return to;
  }
};

namespace {

// Exceptions must not pass through C, so they end the program here, where their message is still visible.
template <class Work>
auto guarded(const Work& work) noexcept -> decltype(work()) {
#ifdef __cpp_exceptions
  try {
    return work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
#else
  return work();
#endif
}

omnilink::Sequence<omnilink_value> arguments_of(const omnilink_action* action, const omnilink_value* values) {
  return {values, action->arguments.size()};
}

omnilink::Sequence<omnilink_value> results_of(const omnilink_action* action, const omnilink_value* values) {
  return {values, action->results.size()};
}

omnilink::Pending& pending(omnilink_process* process) {
  if (!process->pending) omnilink::detail::fail("no call is open");
  return *process->pending;
}

std::vector<std::string> strings(const char* const* texts, std::size_t count) { return {texts, texts + count}; }

}  // namespace

omnilink_value omnilink_nil() { return {OMNILINK_NIL, {}, 0}; }

omnilink_value omnilink_bool(bool truth) {
  omnilink_value value{OMNILINK_BOOL, {}, 0};
  value.as.truth = truth;
  return value;
}

omnilink_value omnilink_int(std::int64_t integer) {
  omnilink_value value{OMNILINK_INT, {}, 0};
  value.as.integer = integer;
  return value;
}

omnilink_value omnilink_uint(std::uint64_t integer) {
  omnilink_value value{OMNILINK_UINT, {}, 0};
  value.as.natural = integer;
  return value;
}

omnilink_value omnilink_double(double number) {
  omnilink_value value{OMNILINK_DOUBLE, {}, 0};
  value.as.number = number;
  return value;
}

omnilink_value omnilink_string(const char* text) {
  omnilink_value value{OMNILINK_STRING, {}, std::strlen(text)};
  value.as.text = text;
  return value;
}

static omnilink_value items(omnilink_kind kind, const omnilink_value* first, std::size_t count) {
  omnilink_value value{kind, {}, count};
  value.as.items = first;
  return value;
}

omnilink_value omnilink_tuple(const omnilink_value* first, std::size_t count) {
  return items(OMNILINK_TUPLE, first, count);
}

omnilink_value omnilink_set(const omnilink_value* first, std::size_t count) {
  return items(OMNILINK_SET, first, count);
}

omnilink_value omnilink_function(const omnilink_value* first, std::size_t count) {
  return items(OMNILINK_FUNCTION, first, count);
}

omnilink_recorder* omnilink_recorder_create(const char* directory) {
  return guarded([&] { return new omnilink_recorder{omnilink::Recorder::create(directory)}; });
}

void omnilink_recorder_free(omnilink_recorder* recorder) { delete recorder; }

omnilink_action* omnilink_action_create(const char* name, const char* const* arguments, std::size_t argument_count,
                                        const char* const* results, std::size_t result_count) {
  return guarded([&] {
    return new omnilink_action(name, strings(arguments, argument_count), strings(results, result_count));
  });
}

void omnilink_action_free(omnilink_action* action) { delete action; }

omnilink_process* omnilink_process_create(omnilink_recorder* recorder, const char* name) {
  return guarded([&] { return new omnilink_process{recorder->recorder.process(name), std::nullopt, nullptr}; });
}

void omnilink_process_free(omnilink_process* process) {
  if (process == nullptr) return;
  process->pending.reset();
  delete process;
}

void omnilink_call(omnilink_process* process, const omnilink_action* action, const omnilink_value* arguments) {
  guarded([&] {
    process->pending.reset();
    process->pending.emplace(process->process.call(action->action, arguments_of(action, arguments)));
    process->action = action;
  });
}

void omnilink_done(omnilink_process* process, const omnilink_value* results) {
  guarded([&] {
    pending(process).done(results_of(process->action, results));
    process->pending.reset();
  });
}

void omnilink_done_as(omnilink_process* process, const omnilink_action* action, const omnilink_value* arguments,
                      const omnilink_value* results) {
  guarded([&] {
    pending(process).done_as(action->action, arguments_of(action, arguments), results_of(action, results));
    process->pending.reset();
  });
}

void omnilink_failed(omnilink_process* process) {
  guarded([&] {
    pending(process).failed();
    process->pending.reset();
  });
}

void omnilink_unknown(omnilink_process* process) {
  guarded([&] {
    pending(process).unknown();
    process->pending.reset();
  });
}

void omnilink_unknown_by_now(omnilink_process* process) {
  guarded([&] {
    pending(process).unknown_by_now();
    process->pending.reset();
  });
}

void omnilink_meta(omnilink_process* process, const char* key, omnilink_value value) {
  guarded([&] { pending(process).meta(key, value); });
}

void omnilink_refine_start(omnilink_process* process) {
  guarded([&] { pending(process).refine_start(); });
}

void omnilink_refine_end(omnilink_process* process) {
  guarded([&] { pending(process).refine_end(); });
}
