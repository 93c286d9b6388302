// The interface between a program under control and the runtime.
//
// A runtime that decides at every step which thread runs exports functions of these names. They are weak here, so
// that nothing has to be linked: where there are none, the program is not under control. Under control time is the
// number of a step. Recording is not part of the system, so from the step that is an operation's call or return, or from
// `suppress`, until `settle`, nothing the thread does is a step.

#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
[[gnu::weak]] int omnilink_sched_is_controlled(void);
[[gnu::weak]] std::uint64_t omnilink_sched_call(void);
[[gnu::weak]] void omnilink_sched_settle(void);
[[gnu::weak]] void omnilink_sched_suppress(void);
[[gnu::weak]] std::uint64_t omnilink_sched_return(void);
[[gnu::weak]] void omnilink_sched_gate(std::uint32_t count);
[[gnu::weak]] int omnilink_sched_next(void);
}

namespace omnilink::detail {

// True if a runtime decides which thread runs.
inline bool is_controlled() { return omnilink_sched_is_controlled != nullptr && omnilink_sched_is_controlled() == 1; }

}  // namespace omnilink::detail
