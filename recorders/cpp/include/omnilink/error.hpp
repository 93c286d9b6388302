// How the recorder reports errors.
//
// A recorder that silently stopped would leave a history that looks complete and is not. So every error is an
// exception, or, in programs built without exceptions, a message and `abort`.

#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace omnilink::detail {

// The caller broke a rule of the interface.
[[noreturn]] inline void fail(const std::string& message) {
#ifdef __cpp_exceptions
  throw std::runtime_error("omnilink: " + message);
#else
  std::fprintf(stderr, "omnilink: %s\n", message.c_str());
  std::abort();
#endif
}

// The operating system returned this error.
[[noreturn]] inline void fail_because(const std::error_code& code, const std::string& what) {
#ifdef __cpp_exceptions
  throw std::system_error(code, "omnilink: " + what);
#else
  fail(what + ": " + code.message());
#endif
}

// The operating system returned an error in `errno`.
[[noreturn]] inline void fail_with_errno(const std::string& what) {
  fail_because(std::error_code(errno, std::generic_category()), what);
}

}  // namespace omnilink::detail
