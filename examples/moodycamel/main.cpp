// Records what threads do to a moodycamel::ConcurrentQueue, which gives every producer a queue of its own and keeps no
// order between producers.
//
//   harness elements   elements one by one, with the names of Fifo.tla
//   harness values     the same with the names of the built-in model `queue`, which decides long histories
//   harness batches    several elements at a time, for Lanes.tla
//
// Every thread puts in and takes out, each as often as the other and never many more in than out: if an order has to be
// searched for, there are far fewer while the queue is short. No element goes in twice.

#include <concurrentqueue/concurrentqueue.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "omnilink/drive.hpp"

namespace {

using Queue = moodycamel::ConcurrentQueue<std::int64_t>;

constexpr omnilink::Action ENQUEUE{"Enqueue", {"elem"}};
constexpr omnilink::Action DEQUEUE{"Dequeue", {}, {"elem"}};
constexpr omnilink::Action DEQUEUE_EMPTY{"DequeueEmpty"};

constexpr omnilink::Action PUT{"enqueue", {"value"}, {"ok"}};
constexpr omnilink::Action TAKE{"dequeue", {}, {"value"}};

constexpr omnilink::Action ENQUEUE_BATCH{"EnqueueBatch", {"batch"}};
constexpr omnilink::Action DEQUEUE_BATCH{"DequeueBatch", {}, {"batch"}};

// The most elements that go in or come out at once. There is always at least one.
constexpr std::size_t BATCH = 4;

// A thread that has put in this many more elements than it has taken out takes some out first.
constexpr int SURPLUS = 4;

// Whether the next operation puts something in.
bool is_put(int surplus, omnilink::Client& client) { return client.draw().below(2) == 0 && surplus < SURPLUS; }

void move_element(Queue& queue, int& surplus, omnilink::Client& client) {
  if (is_put(surplus, client)) {
    ++surplus;
    const std::int64_t elem = client.draw().fresh();
    auto call = client.call(ENQUEUE, elem);
    queue.enqueue(elem);
    call.done();
    return;
  }
  auto call = client.call(DEQUEUE);
  if (std::int64_t elem = 0; queue.try_dequeue(elem)) {
    --surplus;
    call.done(elem);
  } else {
    call.done_as(DEQUEUE_EMPTY, std::tuple(), std::tuple());
  }
}

void move_value(Queue& queue, int& surplus, omnilink::Client& client) {
  if (is_put(surplus, client)) {
    ++surplus;
    const std::int64_t value = client.draw().fresh();
    auto call = client.call(PUT, value);
    call.done(queue.enqueue(value));
    return;
  }
  auto call = client.call(TAKE);
  std::int64_t value = 0;
  const bool is_there = queue.try_dequeue(value);
  call.done(is_there ? std::optional(value) : std::nullopt);
  surplus -= is_there ? 1 : 0;
}

// The queue knows a thread that puts in without a token by the thread itself, so the producer is the thread.
void move_batch(Queue& queue, int& surplus, omnilink::Client& client) {
  const bool is_in = is_put(surplus, client);
  std::vector<std::int64_t> batch(1 + client.draw().below(BATCH));
  if (is_in) {
    for (std::int64_t& elem : batch) elem = client.draw().fresh();
    auto call = client.call(ENQUEUE_BATCH, batch);
    queue.enqueue_bulk(batch.begin(), batch.size());
    call.done();
    surplus += static_cast<int>(batch.size());
  } else {
    auto call = client.call(DEQUEUE_BATCH);
    batch.resize(queue.try_dequeue_bulk(batch.begin(), batch.size()));
    call.done(batch);
    surplus -= static_cast<int>(batch.size());
  }
}

int run(void (*step)(Queue&, int&, omnilink::Client&)) {
  omnilink::repeat([&] {
    Queue queue;
    omnilink::run(omnilink::Plan::from_env(), queue, [](Queue&, std::size_t) { return 0; }, step);
  });
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count == 2 ? arguments[1] : "";
  if (what == "elements") return run(move_element);
  if (what == "values") return run(move_value);
  if (what == "batches") return run(move_batch);
  std::fprintf(stderr, "usage: harness elements|values|batches\n");
  return 2;
}
