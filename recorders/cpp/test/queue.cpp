// The cost of recording a real queue: moodycamel's, with an element put in and one taken out, recorded and not.
//
//   queue [OPERATIONS]

#include "measure.hpp"

#include <concurrentqueue/concurrentqueue.h>

namespace {

constexpr omnilink::Action ENQUEUE{"Enqueue", {"elem"}};
constexpr omnilink::Action DEQUEUE{"Dequeue", {}, {"elem"}};

using Queue = moodycamel::ConcurrentQueue<std::int64_t>;

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t operations = count > 1 ? std::stoll(arguments[1]) : 1'000'000;
  measure::Report report;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    report.add("put and take", threads, measure::best([&] {
      Queue queue;
      return measure::once(threads, operations / 2, [](std::size_t) { return 0; },
                           [&](int&, std::int64_t i) {
                             queue.enqueue(i);
                             std::int64_t elem = 0;
                             measure::keep(queue.try_dequeue(elem));
                           });
    }));
    report.add("put and take, recorded", threads, measure::best_recorded([&](const omnilink::Recorder& recorder) {
      Queue queue;
      return measure::once(threads, operations / 2,
                           [&](std::size_t thread) { return recorder.process(std::to_string(thread)); },
                           [&](omnilink::Process& process, std::int64_t i) {
                             auto enqueue = process.call(ENQUEUE, i);
                             queue.enqueue(i);
                             enqueue.done();
                             auto dequeue = process.call(DEQUEUE);
                             std::int64_t elem = 0;
                             const bool is_there = queue.try_dequeue(elem);
                             dequeue.done(is_there ? std::optional(elem) : std::nullopt);
                           });
    }));
  }
  report.print();
  return 0;
}
