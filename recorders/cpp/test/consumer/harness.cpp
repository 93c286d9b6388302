// A counter, recorded by two threads: a harness outside this repository.

#include <omnilink/drive.hpp>
#include <omnilink/recorder.h>

#include <atomic>

inline constexpr omnilink::Action ADD{"Add", {"amount"}, {"before"}};

int main() {
  std::atomic<std::int64_t> counter{0};
  omnilink::run(
      omnilink::Plan::from_env(), counter, [](auto&, std::size_t) { return 0; },
      [](std::atomic<std::int64_t>& shared, int&, omnilink::Client& client) {
        const std::int64_t amount = client.draw().range(1, 3);
        auto call = client.call(ADD, amount);
        call.done(shared.fetch_add(amount));
      });
  return omnilink_int(1).kind == OMNILINK_INT ? 0 : 1;
}
