// Objects for `omnilink lineup`, which tests each against its own sequential behaviour.
//
//   objects NAME
//
// small.hpp has those that are wrong on purpose, `counter-wrong` and so on, beside their corrected ones; real.hpp has real
// ones.

#include <cstdio>
#include <string_view>

#include "omnilink/object.hpp"
#include "real.hpp"
#include "small.hpp"

namespace {

using omnilink::object;

template <bool is_right>
int counter() {
  using Counter = ::Counter<is_right>;
  return object<Counter>().call("inc", &Counter::inc).call("get", &Counter::get).main();
}

template <bool is_right>
int queue() {
  using Queue = ::Queue<is_right>;
  return object<Queue>().call("add", &Queue::add, 200, 400).call("try_take", &Queue::try_take).main();
}

template <bool is_right>
int event() {
  using Event = ::Event<is_right>;
  return object<Event>()
      .call("set", &Event::set)
      .call("reset", &Event::reset)
      .call("wait", &Event::wait)
      .main();
}

template <bool is_right>
int bag() {
  using Bag = ::Bag<is_right>;
  return object<Bag>().call("add", &Bag::add, 200, 400).call("take", &Bag::take).main();
}

int moodycamel_queue() {
  return object<Moodycamel>()
      .call("enqueue", &Moodycamel::enqueue, 200, 400)
      .call("try_dequeue", &Moodycamel::try_dequeue)
      .main();
}

int moodycamel_blocking() {
  return object<BlockingMoodycamel>()
      .call("enqueue", &BlockingMoodycamel::enqueue, 200, 400)
      .call("try_dequeue", &BlockingMoodycamel::try_dequeue)
      .call("wait_dequeue", &BlockingMoodycamel::wait_dequeue)
      .main();
}

template <class Container>
int push_and_pop() {
  return object<Container>().call("push", &Container::push, 200, 400).call("pop", &Container::pop).main();
}

int semaphore() {
  return object<Semaphore>()
      .call("acquire", &Semaphore::acquire)
      .call("release", &Semaphore::release)
      .call("try_acquire", &Semaphore::try_acquire)
      .main();
}

int latch() {
  return object<Latch>()
      .call("count_down", &Latch::count_down)
      .call("try_wait", &Latch::try_wait)
      .call("wait", &Latch::wait)
      .main();
}

int barrier() { return object<Barrier>().call("arrive_and_wait", &Barrier::arrive_and_wait).main(); }

int blocking_queue() {
  return object<BlockingQueue>()
      .call("add", &BlockingQueue::add, 200, 400)
      .call("take", &BlockingQueue::take)
      .call("try_take", &BlockingQueue::try_take)
      .main();
}

int stoppable_queue() {
  return object<StoppableQueue>()
      .call("add", &StoppableQueue::add, 200, 400)
      .call("take", &StoppableQueue::take)
      .call("stop", &StoppableQueue::stop)
      .main();
}

struct Entry {
  std::string_view name;
  int (*main)();
};

constexpr Entry entries[] = {
    {"counter-wrong", counter<false>},
    {"counter", counter<true>},
    {"queue-wrong", queue<false>},
    {"queue", queue<true>},
    {"event-wrong", event<false>},
    {"event", event<true>},
    {"bag-wrong", bag<false>},
    {"bag", bag<true>},
    {"moodycamel", moodycamel_queue},
    {"moodycamel-blocking", moodycamel_blocking},
    {"boost-queue", push_and_pop<BoostQueue>},
    {"boost-stack", push_and_pop<BoostStack>},
    {"boost-spsc", push_and_pop<BoostSpsc>},
    {"semaphore", semaphore},
    {"latch", latch},
    {"barrier", barrier},
    {"blocking-queue", blocking_queue},
    {"stoppable-queue", stoppable_queue},
};

}  // namespace

int main(int count, char** arguments) {
  const std::string_view name = count == 2 ? arguments[1] : "";
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.main();
  }
  std::fprintf(stderr, "usage: objects NAME, one of:\n");
  for (const Entry& entry : entries) std::fprintf(stderr, "  %s\n", entry.name.data());
  return 2;
}
