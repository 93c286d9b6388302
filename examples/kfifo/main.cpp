// Records what threads do to a xenium::kirsch_kfifo_queue, which may give any of its K oldest elements instead of the
// oldest one.
//
// Every thread puts in and takes out, each as often as the other and never many more in than out: if an order has to be
// searched for, there are far fewer while the queue is short. No element goes in twice.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <xenium/kirsch_kfifo_queue.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>

#include "omnilink/drive.hpp"

namespace {

constexpr omnilink::Action ENQUEUE{"Enqueue", {"elem"}};
constexpr omnilink::Action DEQUEUE{"Dequeue", {}, {"elem"}};
constexpr omnilink::Action DEQUEUE_EMPTY{"DequeueEmpty"};

// As KFifo.cfg says.
constexpr std::uint64_t K = 4;

// A thread puts in at most this many more elements than it takes out.
constexpr int SURPLUS = 4;

// The queue holds pointers, so an element is the place of a number.
struct Shared {
  using Queue = xenium::kirsch_kfifo_queue<std::int64_t*, xenium::policy::reclaimer<xenium::reclamation::epoch_based<>>>;

  explicit Shared(std::size_t count) : numbers(count), queue(K) {}

  std::vector<std::int64_t> numbers;
  Queue queue;
};

void move_element(Shared& shared, int& surplus, omnilink::Client& client) {
  if (client.draw().below(2) == 0 && surplus < SURPLUS) {
    ++surplus;
    const std::int64_t elem = client.draw().fresh();
    std::int64_t& number = shared.numbers[static_cast<std::size_t>(elem)];
    number = elem;
    auto call = client.call(ENQUEUE, elem);
    shared.queue.push(&number);
    call.done();
    return;
  }
  auto call = client.call(DEQUEUE);
  if (std::int64_t* number = nullptr; shared.queue.try_pop(number)) {
    --surplus;
    call.done(*number);
  } else {
    call.done_as(DEQUEUE_EMPTY, std::tuple(), std::tuple());
  }
}

}  // namespace

int main() {
  omnilink::repeat([] {
    const auto plan = omnilink::Plan::from_env();
    Shared shared(plan.threads * plan.operations);
    omnilink::run(plan, shared, [](Shared&, std::size_t) { return 0; }, move_element);
  });
}
