// Litmus programs: a few threads with a few atomic operations each, and their outcome.
//
//     litmus            lists all names
//     litmus NAME       runs one, and prints a line with the outcome; in a batch, a line for each execution
//     litmus NAME FILE  appends the lines to a file instead
//
// An outcome is the values read, thread by thread; for 2+2w it is the final values. A name is the shape and the orders:
// `rlx` is relaxed, `ra` release and acquire, `sc` sequentially consistent, `fence` relaxed with fences. The locks at
// the end print `ok`, or `broken` if two threads were inside at once.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern "C" {
__attribute__((weak)) int omnilink_sched_next(void);
__attribute__((weak)) int omnilink_sched_is_controlled(void);
__attribute__((weak)) void omnilink_sched_gate(uint32_t count);
}

namespace {

constexpr auto rlx = std::memory_order_relaxed;
constexpr auto acq = std::memory_order_acquire;
constexpr auto rel = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto sc = std::memory_order_seq_cst;

std::atomic<int> x, y;

// The values read by each thread.
struct Reads {
    std::string text;
    void operator()(int value) { text += std::to_string(value); }
};

using Thread = std::function<void(Reads&)>;

struct Litmus {
    const char* name;
    std::vector<Thread> threads;
    bool shows_ends;
};

// Operations. They return a thread's function, so that a program reads like one.
Thread load(std::atomic<int>& from, std::memory_order order) {
    return [&from, order](Reads& reads) { reads(from.load(order)); };
}

Thread store(std::atomic<int>& to, int value, std::memory_order order) {
    return [&to, value, order](Reads&) { to.store(value, order); };
}

Thread add(std::atomic<int>& to, int more, std::memory_order order) {
    return [&to, more, order](Reads& reads) { reads(to.fetch_add(more, order)); };
}

Thread fence(std::memory_order order) {
    return [order](Reads&) { std::atomic_thread_fence(order); };
}

Thread locked(Thread thread) {
    static std::mutex mutex;
    return [thread](Reads& reads) {
        std::lock_guard<std::mutex> guard(mutex);
        thread(reads);
    };
}

template <typename... More>
Thread in_order(More... more) {
    return [=](Reads& reads) { (more(reads), ...); };
}

// The number of threads inside a lock.
std::atomic<int> inside;

// Two threads that use a lock.
template <typename Enter, typename Leave>
std::vector<Thread> lock(Enter enter, Leave leave) {
    auto use = [=](int me) {
        return [=](Reads& reads) {
            if (!enter(me)) {
                return;
            }
            if (inside.fetch_add(1, rlx) != 0) {
                reads.text = "broken";
            }
            inside.fetch_sub(1, rlx);
            leave(me);
        };
    };
    return {use(0), use(1)};
}

std::atomic<int> flag[2], turn;

// Peterson's lock.
std::vector<Thread> peterson(std::memory_order to_store, std::memory_order to_load) {
    auto enter = [=](int me) {
        flag[me].store(1, to_store);
        turn.store(1 - me, to_store);
        while (flag[1 - me].load(to_load) == 1 && turn.load(to_load) == 1 - me) {
        }
        return true;
    };
    return lock(enter, [=](int me) { flag[me].store(0, to_store); });
}

// The entry of Dekker's lock, without the waiting: a thread that finds the other's flag up backs off.
std::vector<Thread> dekker(std::memory_order to_store, std::memory_order to_load) {
    auto enter = [=](int me) {
        flag[me].store(1, to_store);
        if (flag[1 - me].load(to_load) == 0) {
            return true;
        }
        flag[me].store(0, to_store);
        return false;
    };
    return lock(enter, [=](int me) { flag[me].store(0, to_store); });
}

std::vector<Litmus> all() {
    auto sb = [](auto w, auto r) {
        return std::vector<Thread>{in_order(store(x, 1, w), load(y, r)), in_order(store(y, 1, w), load(x, r))};
    };
    auto sb_fences = [](auto f) {
        return std::vector<Thread>{in_order(store(x, 1, rlx), fence(f), load(y, rlx)),
                                   in_order(store(y, 1, rlx), fence(f), load(x, rlx))};
    };
    auto mp = [](auto w, auto r) {
        return std::vector<Thread>{in_order(store(x, 1, rlx), store(y, 1, w)), in_order(load(y, r), load(x, rlx))};
    };
    auto mp_fences = std::vector<Thread>{in_order(store(x, 1, rlx), fence(rel), store(y, 1, rlx)),
                                         in_order(load(y, rlx), fence(acq), load(x, rlx))};
    auto mp_mutex = std::vector<Thread>{locked(in_order(store(x, 1, rlx), store(y, 1, rlx))),
                                        locked(in_order(load(y, rlx), load(x, rlx)))};
    auto lb = [](auto w, auto r) {
        return std::vector<Thread>{in_order(load(x, r), store(y, 1, w)), in_order(load(y, r), store(x, 1, w))};
    };
    auto iriw = [](auto w, auto r) {
        return std::vector<Thread>{store(x, 1, w), store(y, 1, w), in_order(load(x, r), load(y, r)),
                                   in_order(load(y, r), load(x, r))};
    };
    auto corr = [](auto w, auto r) {
        return std::vector<Thread>{in_order(store(x, 1, w), store(x, 2, w)), in_order(load(x, r), load(x, r))};
    };
    auto wrc = [](auto w, auto r) {
        return std::vector<Thread>{store(x, 1, w), in_order(load(x, r), store(y, 1, w)), in_order(load(y, r), load(x, r))};
    };
    auto two = [](auto w) {
        return std::vector<Thread>{in_order(store(x, 1, w), store(y, 2, w)), in_order(store(y, 1, w), store(x, 2, w))};
    };
    auto rs = [](auto last) {
        return std::vector<Thread>{in_order(store(x, 1, rlx), store(y, 1, rel)), last, in_order(load(y, acq), load(x, rlx))};
    };
    return {
        {"sb-rlx", sb(rlx, rlx), false},
        {"sb-ra", sb(rel, acq), false},
        {"sb-sc", sb(sc, sc), false},
        {"sb-fence-ra", sb_fences(acq_rel), false},
        {"sb-fence-sc", sb_fences(sc), false},
        {"mp-rlx", mp(rlx, rlx), false},
        {"mp-ra", mp(rel, acq), false},
        {"mp-sc", mp(sc, sc), false},
        {"mp-fence", mp_fences, false},
        {"mp-mutex", mp_mutex, false},
        {"lb-rlx", lb(rlx, rlx), false},
        {"lb-ra", lb(rel, acq), false},
        {"lb-sc", lb(sc, sc), false},
        {"iriw-rlx", iriw(rlx, rlx), false},
        {"iriw-ra", iriw(rel, acq), false},
        {"iriw-sc", iriw(sc, sc), false},
        {"corr-rlx", corr(rlx, rlx), false},
        {"corr-sc", corr(sc, sc), false},
        {"wrc-rlx", wrc(rlx, rlx), false},
        {"wrc-ra", wrc(rel, acq), false},
        {"wrc-sc", wrc(sc, sc), false},
        {"2+2w-rlx", two(rlx), true},
        {"2+2w-ra", two(rel), true},
        {"2+2w-sc", two(sc), true},
        {"release-sequence-update", rs(add(y, 1, rlx)), false},
        {"release-sequence-store", rs(store(y, 2, rlx)), false},
        {"update-rlx", {add(x, 1, rlx), add(x, 1, rlx)}, false},
        {"dekker-ra", dekker(rel, acq), false},
        {"dekker-sc", dekker(sc, sc), false},
        {"peterson-ra", peterson(rel, acq), false},
        {"peterson-sc", peterson(sc, sc), false},
    };
}

std::string run(const Litmus& litmus) {
    std::vector<std::thread> threads;
    std::vector<Reads> reads(litmus.threads.size());
    for (size_t i = 0; i < litmus.threads.size(); i++) {
        threads.emplace_back([&, i] {
            if (omnilink_sched_gate != nullptr && omnilink_sched_is_controlled()) {
                omnilink_sched_gate(static_cast<uint32_t>(litmus.threads.size()));
            }
            litmus.threads[i](reads[i]);
        });
    }
    std::string outcome;
    for (size_t i = 0; i < threads.size(); i++) {
        threads[i].join();
        outcome += reads[i].text;
    }
    if (litmus.shows_ends) {
        outcome = "x=" + std::to_string(x.load()) + " y=" + std::to_string(y.load());
    }
    return outcome.empty() ? "ok" : outcome;
}

}  // namespace

int main(int count, char** arguments) {
    const auto litmuses = all();
    for (const auto& litmus : litmuses) {
        if (count < 2) {
            std::puts(litmus.name);
            continue;
        }
        if (std::strcmp(litmus.name, arguments[1]) != 0) {
            continue;
        }
        FILE* lines = count < 3 ? stdout : std::fopen(arguments[2], "a");
        if (lines == nullptr) {
            std::perror(arguments[2]);
            return 1;
        }
        bool is_first = true;
        while (omnilink_sched_next != nullptr ? omnilink_sched_next() != 0 : is_first) {
            is_first = false;
            for (auto* location : {&x, &y, &flag[0], &flag[1], &turn, &inside}) {
                location->store(0);
            }
            std::fprintf(lines, "%s\n", run(litmus).c_str());
            std::fflush(lines);
        }
        return 0;
    }
    return count < 2 ? 0 : 2;
}
