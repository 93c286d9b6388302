// Records what threads do to a moodycamel::ConcurrentQueue, which gives every producer a queue of its own and keeps no
// order between producers.
//
//   harness elements   elements one by one, with the names of Fifo.tla
//   harness values     the same with the names of the built-in model `queue`, which decides long histories
//   harness batches    several elements at a time, for Lanes.tla
//
// Every thread puts in and takes out, each as often as the other, so that the queue stays short. No element goes in
// twice.

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

void move_element(Queue& queue, omnilink::Client& client) {
  if (client.draw().below(2) == 0) {
    const std::int64_t elem = client.draw().fresh();
    auto call = client.call(ENQUEUE, elem);
    queue.enqueue(elem);
    call.done();
    return;
  }
  auto call = client.call(DEQUEUE);
  if (std::int64_t elem = 0; queue.try_dequeue(elem)) {
    call.done(elem);
  } else {
    call.done_as(DEQUEUE_EMPTY, std::tuple(), std::tuple());
  }
}

void move_value(Queue& queue, omnilink::Client& client) {
  if (client.draw().below(2) == 0) {
    const std::int64_t value = client.draw().fresh();
    auto call = client.call(PUT, value);
    call.done(queue.enqueue(value));
    return;
  }
  auto call = client.call(TAKE);
  std::int64_t value = 0;
  const bool is_there = queue.try_dequeue(value);
  call.done(is_there ? std::optional(value) : std::nullopt);
}

// The queue knows a thread that puts in without a token by the thread itself, so the producer is the thread.
void move_batch(Queue& queue, omnilink::Client& client) {
  const bool is_put = client.draw().below(2) == 0;
  std::vector<std::int64_t> batch(1 + client.draw().below(BATCH));
  if (is_put) {
    for (std::int64_t& elem : batch) elem = client.draw().fresh();
    auto call = client.call(ENQUEUE_BATCH, batch);
    queue.enqueue_bulk(batch.begin(), batch.size());
    call.done();
  } else {
    auto call = client.call(DEQUEUE_BATCH);
    batch.resize(queue.try_dequeue_bulk(batch.begin(), batch.size()));
    call.done(batch);
  }
}

int run(void (*step)(Queue&, omnilink::Client&)) {
  Queue queue;
  omnilink::run(omnilink::Plan::from_env(), queue, [](Queue&, std::size_t) { return 0; },
                [step](Queue& shared, int, omnilink::Client& client) { step(shared, client); });
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
