// Small programs with and without data races. The argument names one.

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

// Outside the namespace, so that no access is optimized away.
int number = 0;
int other = 0;
std::mutex mutex;
std::mutex second_mutex;
std::atomic<int> flag{0};
char bytes[8];
struct Bits {
  unsigned a : 4;
  unsigned b : 4;
} bits;

namespace {

using Work = std::function<void()>;

void both(const Work& first, const Work& second) {
  std::thread one(first);
  std::thread two(second);
  one.join();
  two.join();
}

// Reads have to be used to be made.
void use(int value) {
  volatile int used = value;
  (void)used;
}

const std::map<std::string, Work> kPrograms{
    // With a data race.
    {"race-counter", [] { both([] { ++number; }, [] { ++number; }); }},
    {"race-unlocked-reader",
     [] {
       both([] { std::lock_guard guard(mutex); number = 1; }, [] { other = number; });
     }},
    {"race-two-locks",
     [] {
       both([] { std::lock_guard guard(mutex); ++number; }, [] { std::lock_guard guard(second_mutex); ++number; });
     }},
    {"race-relaxed-flag",
     [] {
       both([] { number = 1; flag.store(1, std::memory_order_relaxed); },
            [] { while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield(); other = number; });
     }},
    {"race-one-fence",
     [] {
       both([] { number = 1; std::atomic_thread_fence(std::memory_order_release);
                 flag.store(1, std::memory_order_relaxed); },
            [] { while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield(); other = number; });
     }},
    {"race-double-checked",
     [] {
       static int* made = nullptr;
       const auto get = [] {
         if (made != nullptr) return;
         std::lock_guard guard(mutex);
         if (made == nullptr) made = new int(7);
       };
       both(get, get);
     }},
    {"race-vector",
     [] {
       static std::vector<int> shared;
       shared.reserve(8);
       both([] { shared.push_back(1); }, [] { shared.push_back(2); });
     }},
    {"race-bit-fields", [] { both([] { bits.a = 1; }, [] { bits.b = 1; }); }},
    {"race-before-join",
     [] {
       std::thread one([] { number = 1; });
       other = number;
       one.join();
     }},
    {"race-atomic-and-plain",
     [] {
       static int shared = 0;
       both([] { std::atomic_ref<int>(shared).store(1); }, [] { other = shared; });
     }},
    {"race-shared-lock-writes",
     [] {
       static std::shared_mutex shared;
       both([] { std::shared_lock guard(shared); ++number; }, [] { std::shared_lock guard(shared); ++number; });
     }},
    // Without.
    {"race-free-in-use",
     [] {
       std::atomic<int*> current{new int(1)};
       both([&] { use(*current.load()); }, [&] { delete current.exchange(new int(2)); });
       delete current.load();
     }},
    {"race-freed-twice",
     [] {
       std::atomic<int*> current{new int(1)};
       const auto take = [&] { delete current.exchange(current.load()); };
       both(take, take);
     }},
    {"locked-counter", [] { both([] { std::lock_guard guard(mutex); ++number; }, [] { std::lock_guard guard(mutex); ++number; }); }},
    {"join",
     [] {
       std::thread one([] { number = 1; });
       one.join();
       use(number);
     }},
    {"release-acquire",
     [] {
       both([] { number = 1; flag.store(1, std::memory_order_release); },
            [] { while (flag.load(std::memory_order_acquire) == 0) std::this_thread::yield(); use(number); });
     }},
    {"two-fences",
     [] {
       both([] { number = 1; std::atomic_thread_fence(std::memory_order_release);
                 flag.store(1, std::memory_order_relaxed); },
            [] { while (flag.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
                 std::atomic_thread_fence(std::memory_order_acquire); use(number); });
     }},
    {"release-sequence",
     [] {
       std::thread bump([] { flag.fetch_add(1, std::memory_order_relaxed); });
       both([] { number = 1; flag.fetch_add(2, std::memory_order_release); },
            [] { while (flag.load(std::memory_order_acquire) < 2) std::this_thread::yield(); use(number); });
       bump.join();
     }},
    {"relaxed-counter",
     [] {
       both([] { flag.fetch_add(1, std::memory_order_relaxed); }, [] { flag.fetch_add(1, std::memory_order_relaxed); });
     }},
    {"different-bytes", [] { both([] { bytes[0] = 1; }, [] { bytes[1] = 1; }); }},
    {"condition",
     [] {
       static std::condition_variable condition;
       static bool is_ready = false;
       both([] { { std::lock_guard guard(mutex); number = 1; is_ready = true; } condition.notify_one(); },
            [] { std::unique_lock guard(mutex); condition.wait(guard, [] { return is_ready; }); use(number); });
     }},
    {"shared-lock",
     [] {
       static std::shared_mutex shared;
       both([] { std::unique_lock guard(shared); ++number; }, [] { std::shared_lock guard(shared); use(number); });
     }},
    {"semaphore",
     [] {
       static std::binary_semaphore ready(0);
       both([] { number = 1; ready.release(); }, [] { ready.acquire(); use(number); });
     }},
    {"call-once",
     [] {
       static std::once_flag once;
       const auto get = [] { std::call_once(once, [] { number = 1; }); };
       both([=] { get(); }, [=] { get(); });
     }},
    {"ring",
     [] {
       static int slots[4];
       static std::atomic<unsigned> head{0};
       static std::atomic<unsigned> tail{0};
       both([] { for (unsigned i = 0; i < 3; ++i) { slots[i] = 1; tail.store(i + 1, std::memory_order_release); } },
            [] { for (unsigned i = 0; i < 3; ++i) {
                   while (tail.load(std::memory_order_acquire) <= i) std::this_thread::yield();
                   use(slots[i]); head.store(i + 1, std::memory_order_release); } });
     }},
    {"reference-count",
     [] {
       auto shared = std::make_shared<int>(1);
       std::thread one([copy = shared]() mutable { use(*copy); copy.reset(); });
       std::thread two([copy = shared]() mutable { use(*copy); copy.reset(); });
       shared.reset();
       one.join();
       two.join();
     }},
    {"memory-used-again",
     [] {
       const auto work = [] {
         for (int round = 0; round < 20; ++round) {
           const auto mine = std::make_unique<std::vector<int>>(round + 1, round);
           mine->resize(3 * round + 1);
           use(mine->back());
           std::this_thread::yield();
         }
       };
       both(work, work);
     }},
    {"handed-over",
     [] {
       std::unique_ptr<int> place;
       std::atomic<bool> is_full{false};
       both([&] { place = std::make_unique<int>(1); is_full = true; },
            [&] { while (!is_full) std::this_thread::yield(); use(*place); place.reset(); });
     }},
    {"barrier",
     [] {
       static std::barrier meeting(2);
       both([] { number = 1; meeting.arrive_and_wait(); }, [] { meeting.arrive_and_wait(); use(number); });
     }},
};

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == "list") {
    for (const auto& [name, work] : kPrograms) std::printf("%s\n", name.c_str());
    return 0;
  }
  kPrograms.at(arguments[1])();
}
