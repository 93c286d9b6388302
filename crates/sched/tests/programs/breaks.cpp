// What a runtime that controls threads may break, one thing per mode: `breaks MODE`.
//
// Each mode holds under every schedule. It exits with 0 if everything was as the C library and the language promise,
// and otherwise prints what was not. `list` prints all modes.

#include <aio.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <future>
#include <latch>
#include <linux/futex.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <random>
#include <sched.h>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <spawn.h>
#include <stop_token>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <threads.h>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

#define CHECK(claim)                                                                                                   \
    do {                                                                                                               \
        if (!(claim)) {                                                                                                \
            std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #claim);                                           \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

namespace {

struct timespec in(clockid_t clock, long milliseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += milliseconds % 1000 * 1000000;
    time.tv_sec += milliseconds / 1000 + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

// Two threads at a time, and the data that a lock protects.
template <class Body> void both(Body body) {
    std::thread first([&] { body(0); });
    std::thread second([&] { body(1); });
    first.join();
    second.join();
}

// Threads and what they leave behind.

void pthread_exit_ends_a_thread() {
    static std::atomic<int> unwound{0};
    struct Guard {
        ~Guard() { unwound++; }
    };
    pthread_t thread;
    auto body = [](void *) -> void * {
        Guard guard;
        unwound.load();
        pthread_exit(reinterpret_cast<void *>(7));
    };
    CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
    void *result = nullptr;
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == reinterpret_cast<void *>(7));
    CHECK(unwound == 1);
}

// Attributes belong to the program, which may keep them in read-only memory.
void attributes_are_only_read() {
    size_t page = sysconf(_SC_PAGESIZE);
    void *memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    auto *attributes = static_cast<pthread_attr_t *>(memory);
    CHECK(pthread_attr_init(attributes) == 0);
    CHECK(pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(mprotect(memory, page, PROT_READ) == 0);
    static std::atomic<int> begun{0};
    auto body = [](void *) -> void * {
        begun++;
        return nullptr;
    };
    pthread_t thread;
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread, attributes, body, nullptr) == 0);
    while (begun.load() < 2) std::this_thread::yield();
}

std::atomic<int> destroyed{0};

struct Local {
    std::atomic<int> touched{0};
    ~Local() {
        for (int i = 0; i < 3; i++) destroyed++;
    }
};
thread_local Local local;

void cpp_destructors_run() {
    both([](int) { local.touched++; });
    CHECK(destroyed == 6);
}

pthread_key_t key;
std::atomic<int> rounds{0};

void key_destructors_run() {
    auto again = [](void *value) {
        rounds++;
        auto left = reinterpret_cast<intptr_t>(value) - 1;
        if (left > 0) pthread_setspecific(key, reinterpret_cast<void *>(left));
    };
    CHECK(pthread_key_create(&key, again) == 0);
    both([](int) { pthread_setspecific(key, reinterpret_cast<void *>(3)); });
    CHECK(rounds == 6);
}

void detached_threads_run() {
    static std::atomic<int> done{0};
    for (int i = 0; i < 3; i++) std::thread([] { done++; }).detach();
    while (done.load() < 3) std::this_thread::yield();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, [](void *) -> void * { return done++, nullptr; }, nullptr) == 0);
    while (done.load() < 4) std::this_thread::yield();
}

void exit_with_live_threads() {
    static std::atomic<bool> never{false};
    std::thread([] {
        while (!never.load()) std::this_thread::yield();
    }).detach();
    static std::mutex held;
    held.lock();
    std::thread([] { held.lock(); }).detach();
}

void join_with_limits() {
    static std::atomic<bool> go{false};
    pthread_t thread;
    auto body = [](void *) -> void * {
        while (!go.load()) std::this_thread::yield();
        return reinterpret_cast<void *>(5);
    };
    CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
    void *result = nullptr;
    CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
    go = true;
    auto until = in(CLOCK_REALTIME, 60000);
    CHECK(pthread_timedjoin_np(thread, &result, &until) == 0);
    CHECK(result == reinterpret_cast<void *>(5));
    static std::mutex held;
    held.lock();
    CHECK(pthread_create(&thread, nullptr, [](void *) -> void * { return held.lock(), held.unlock(), nullptr; }, nullptr) == 0);
    until = in(CLOCK_REALTIME, 10);
    CHECK(pthread_timedjoin_np(thread, nullptr, &until) == ETIMEDOUT);
    held.unlock();
    CHECK(pthread_join(thread, nullptr) == 0);
}

// Created before `main`, in this mode only: see `Early`.
std::atomic<int> early{0};

struct Early {
    std::thread thread;
    Early() {
        const char *wanted = std::getenv("BREAKS_EARLY");
        if (wanted != nullptr) thread = std::thread([] { early++; });
    }
    ~Early() {
        if (thread.joinable()) thread.join();
    }
} early_thread;

void threads_before_main() {
    CHECK(early_thread.thread.joinable());
    std::thread other([] { early++; });
    other.join();
    early_thread.thread.join();
    CHECK(early == 2);
}

void static_initialization_races() {
    static std::atomic<int> made{0};
    struct Slow {
        int value;
        Slow() {
            made++;
            std::this_thread::yield();
            value = 5;
        }
    };
    auto body = [](int) {
        static Slow slow;
        CHECK(slow.value == 5);
    };
    std::thread third([&] { body(2); });
    both(body);
    third.join();
    CHECK(made == 1);
}

// Locks and what is built on them.

template <class Lock, class Unlock> void excludes(Lock lock, Unlock unlock) {
    static std::atomic<int> inside{0};
    static int total = 0;
    total = 0;
    both([&](int) {
        for (int i = 0; i < 3; i++) {
            lock();
            CHECK(inside++ == 0);
            total++;
            inside--;
            unlock();
        }
    });
    CHECK(total == 6);
}

void mutexes() {
    std::mutex plain;
    excludes([&] { plain.lock(); }, [&] { plain.unlock(); });
    std::timed_mutex timed;
    excludes([&] { CHECK(timed.try_lock_for(1h)); }, [&] { timed.unlock(); });
    timed.lock();
    std::thread([&] { CHECK(!timed.try_lock_for(5ms)); }).join();
    timed.unlock();
}

void recursive_mutexes() {
    std::recursive_mutex lock;
    excludes([&] { lock.lock(), lock.lock(); }, [&] { lock.unlock(), lock.unlock(); });
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t checked;
    pthread_mutex_init(&checked, &attributes);
    CHECK(pthread_mutex_lock(&checked) == 0);
    CHECK(pthread_mutex_lock(&checked) == EDEADLK);
    std::thread([&] { CHECK(pthread_mutex_unlock(&checked) == EPERM); }).join();
    CHECK(pthread_mutex_unlock(&checked) == 0);
}

void inheriting_mutexes() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    pthread_mutex_t lock;
    CHECK(pthread_mutex_init(&lock, &attributes) == 0);
    excludes([&] { CHECK(pthread_mutex_lock(&lock) == 0); }, [&] { CHECK(pthread_mutex_unlock(&lock) == 0); });
    CHECK(pthread_mutex_destroy(&lock) == 0);
}

long futex(std::atomic<uint32_t> &word, int operation, uint32_t value, const void *time = nullptr,
           std::atomic<uint32_t> *other = nullptr, uint32_t last = 0) {
    return syscall(SYS_futex, &word, operation, value, time, other, last);
}

void inheriting_futexes() {
    static std::atomic<uint32_t> word{0};
    auto lock = [] {
        uint32_t expected = 0;
        if (word.compare_exchange_strong(expected, gettid())) return;
        CHECK(futex(word, FUTEX_LOCK_PI, 0) == 0);
        CHECK((word.load() & FUTEX_TID_MASK) == uint32_t(gettid()));
    };
    auto unlock = [] {
        uint32_t expected = gettid();
        if (!word.compare_exchange_strong(expected, 0)) CHECK(futex(word, FUTEX_UNLOCK_PI, 0) == 0);
    };
    excludes(lock, unlock);
    CHECK(futex(word, FUTEX_TRYLOCK_PI, 0) == 0);
    CHECK(futex(word, FUTEX_LOCK_PI, 0) == -1 && errno == EDEADLK);
    std::thread([&] {
        CHECK(futex(word, FUTEX_UNLOCK_PI, 0) == -1 && errno == EPERM);
        auto until = in(CLOCK_REALTIME, 5);
        CHECK(futex(word, FUTEX_LOCK_PI, 0, &until) == -1 && errno == ETIMEDOUT);
    }).join();
    unlock();
}

void futexes() {
    static std::atomic<uint32_t> word{0}, other{0};
    CHECK(futex(word, FUTEX_WAIT_PRIVATE, 1) == -1 && errno == EAGAIN);
    struct timespec little = {0, 1000000};
    CHECK(futex(word, FUTEX_WAIT_PRIVATE, 0, &little) == -1 && errno == ETIMEDOUT);
    auto until = in(CLOCK_MONOTONIC, 1);
    CHECK(futex(word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, nullptr, 1) == -1 && errno == ETIMEDOUT);
    until = in(CLOCK_REALTIME, 1);
    CHECK(futex(word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &until, nullptr, 1) == -1);
    CHECK(errno == ETIMEDOUT);
    CHECK(futex(word, FUTEX_WAIT_BITSET_PRIVATE, 0, nullptr, nullptr, 0) == -1 && errno == EINVAL);
    static std::atomic<int> woken{0};
    auto body = [](uint32_t bit) {
        return std::thread([bit] {
            CHECK(futex(word, FUTEX_WAIT_BITSET_PRIVATE, 0, nullptr, nullptr, bit) == 0);
            woken++;
        });
    };
    auto a = body(1), b = body(1), c = body(2);
    // Threads waiting for the other bit are not woken by this one.
    while (futex(word, FUTEX_WAKE_BITSET_PRIVATE, 1, nullptr, nullptr, 2) == 0) std::this_thread::yield();
    c.join();
    CHECK(woken == 1);
    long moved = 0;
    while (moved < 2) {
        auto none = reinterpret_cast<const void *>(uintptr_t(2));
        long now = futex(word, FUTEX_CMP_REQUEUE_PRIVATE, 0, none, &other, 0);
        CHECK(now >= 0);
        moved += now;
        std::this_thread::yield();
    }
    CHECK(futex(word, FUTEX_WAKE_PRIVATE, 9) == 0);
    CHECK(futex(other, FUTEX_WAKE_PRIVATE, 1) == 1);
    CHECK(futex(other, FUTEX_WAKE_PRIVATE, 9) == 1);
    a.join();
    b.join();
    CHECK(woken == 3);
    CHECK(syscall(SYS_gettid) == gettid());
}

void spin_locks() {
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    excludes([&] { pthread_spin_lock(&lock); }, [&] { pthread_spin_unlock(&lock); });
    pthread_spin_lock(&lock);
    std::thread([&] { CHECK(pthread_spin_trylock(&lock) == EBUSY); }).join();
    pthread_spin_unlock(&lock);
    pthread_spin_destroy(&lock);
    std::atomic_flag own = ATOMIC_FLAG_INIT;
    excludes([&] { while (own.test_and_set()); }, [&] { own.clear(); });
}

void rwlocks() {
    std::shared_mutex lock;
    excludes([&] { lock.lock(); }, [&] { lock.unlock(); });
    std::atomic<int> readers{0}, writers{0};
    auto read = [&] {
        lock.lock_shared();
        readers++;
        CHECK(writers == 0);
        readers--;
        lock.unlock_shared();
    };
    std::thread a(read), b(read);
    lock.lock();
    writers++;
    CHECK(readers == 0);
    writers--;
    lock.unlock();
    a.join();
    b.join();
    pthread_rwlock_t plain = PTHREAD_RWLOCK_INITIALIZER;
    CHECK(pthread_rwlock_rdlock(&plain) == 0 && pthread_rwlock_tryrdlock(&plain) == 0);
    CHECK(pthread_rwlock_trywrlock(&plain) == EBUSY);
    auto until = in(CLOCK_REALTIME, 5);
    std::thread([&] { CHECK(pthread_rwlock_timedwrlock(&plain, &until) == ETIMEDOUT); }).join();
    CHECK(pthread_rwlock_unlock(&plain) == 0 && pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_wrlock(&plain) == 0 && pthread_rwlock_rdlock(&plain) == EDEADLK);
    until = in(CLOCK_MONOTONIC, 5);
    std::thread([&] { CHECK(pthread_rwlock_clockrdlock(&plain, CLOCK_MONOTONIC, &until) == ETIMEDOUT); }).join();
    CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_destroy(&plain) == 0);
}

void semaphores() {
    sem_t count;
    CHECK(sem_init(&count, 0, 1) == 0);
    excludes([&] { CHECK(sem_wait(&count) == 0); }, [&] { CHECK(sem_post(&count) == 0); });
    CHECK(sem_trywait(&count) == 0);
    CHECK(sem_trywait(&count) == -1 && errno == EAGAIN);
    auto until = in(CLOCK_REALTIME, 5);
    CHECK(sem_timedwait(&count, &until) == -1 && errno == ETIMEDOUT);
    until = in(CLOCK_MONOTONIC, 5);
    CHECK(sem_clockwait(&count, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    CHECK(sem_post(&count) == 0 && sem_post(&count) == 0);
    int value = 0;
    CHECK(sem_getvalue(&count, &value) == 0 && value == 2);
    CHECK(sem_destroy(&count) == 0);
}

void barriers() {
    pthread_barrier_t barrier;
    CHECK(pthread_barrier_init(&barrier, nullptr, 3) == 0);
    std::atomic<int> arrived{0}, serial{0};
    auto body = [&] {
        for (int round = 1; round <= 2; round++) {
            arrived++;
            int answer = pthread_barrier_wait(&barrier);
            CHECK(answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD);
            serial += answer == PTHREAD_BARRIER_SERIAL_THREAD;
            CHECK(arrived >= 3 * round);
        }
    };
    std::thread a(body), b(body);
    body();
    a.join();
    b.join();
    CHECK(serial == 2);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

void once() {
    static std::once_flag flag;
    static std::atomic<int> called{0}, failed{0};
    both([](int) {
        try {
            std::call_once(flag, [] {
                std::this_thread::yield();
                if (called++ == 0) throw 1;
            });
        } catch (int) {
            failed++;
        }
        CHECK(called > 0);
    });
    CHECK(called == 2 && failed == 1);
    static pthread_once_t plain = PTHREAD_ONCE_INIT;
    static std::atomic<int> plainly{0};
    both([](int) {
        CHECK(pthread_once(&plain, [] { std::this_thread::yield(), plainly++; }) == 0);
        CHECK(plainly == 1);
    });
}

void condition_variables() {
    std::mutex lock;
    std::condition_variable full, empty;
    std::vector<int> queue;
    long sum = 0;
    std::thread consumer([&] {
        for (int i = 0; i < 6; i++) {
            std::unique_lock held(lock);
            full.wait(held, [&] { return !queue.empty(); });
            sum += queue.back();
            queue.pop_back();
            empty.notify_one();
        }
    });
    both([&](int thread) {
        for (int i = 1; i <= 3; i++) {
            std::unique_lock held(lock);
            empty.wait(held, [&] { return queue.size() < 2; });
            queue.push_back(thread * 10 + i);
            full.notify_all();
        }
    });
    consumer.join();
    CHECK(sum == 42);
    std::condition_variable_any any;
    std::jthread waiter([&](std::stop_token stop) {
        std::unique_lock held(lock);
        CHECK(!any.wait(held, stop, [] { return false; }));
    });
    waiter.request_stop();
}

void condition_variable_clocks() {
    for (clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        CHECK(pthread_condattr_setclock(&attributes, clock) == 0);
        pthread_cond_t condition;
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_init(&condition, &attributes);
        pthread_mutex_lock(&lock);
        auto before = in(clock, 0), until = in(clock, 2000);
        CHECK(pthread_cond_timedwait(&condition, &lock, &until) == ETIMEDOUT);
        auto after = in(clock, 0);
        CHECK(after.tv_sec - before.tv_sec >= 2 && after.tv_sec - before.tv_sec <= 4);
        until = in(CLOCK_MONOTONIC, 1000);
        CHECK(pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
        until.tv_nsec = 1000000000;
        CHECK(pthread_cond_timedwait(&condition, &lock, &until) == EINVAL);
        pthread_mutex_unlock(&lock);
        pthread_cond_destroy(&condition);
    }
}

void c11_threads() {
    static mtx_t lock;
    static cnd_t condition;
    static int ready = 0;
    CHECK(mtx_init(&lock, mtx_timed) == thrd_success && cnd_init(&condition) == thrd_success);
    thrd_t thread;
    auto body = [](void *) -> int {
        mtx_lock(&lock);
        ready = 1;
        cnd_signal(&condition);
        mtx_unlock(&lock);
        thrd_yield();
        return 5;
    };
    CHECK(thrd_create(&thread, body, nullptr) == thrd_success);
    mtx_lock(&lock);
    while (ready == 0) CHECK(cnd_wait(&condition, &lock) == thrd_success);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    CHECK(cnd_timedwait(&condition, &lock, &until) == thrd_timedout);
    mtx_unlock(&lock);
    int result = 0;
    CHECK(thrd_join(thread, &result) == thrd_success && result == 5);
    excludes([] { CHECK(mtx_lock(&lock) == thrd_success); }, [] { CHECK(mtx_unlock(&lock) == thrd_success); });
    CHECK(mtx_trylock(&lock) == thrd_success);
    std::thread([] { CHECK(mtx_trylock(&lock) == thrd_busy); }).join();
    mtx_unlock(&lock);
    static once_flag flag = ONCE_FLAG_INIT;
    static std::atomic<int> called{0};
    both([](int) { call_once(&flag, [] { called++; }); });
    CHECK(called == 1);
}

void cpp20() {
    std::latch latch(3);
    std::barrier barrier(2);
    std::counting_semaphore<4> semaphore(0);
    std::atomic<int> number{0};
    both([&](int) {
        latch.count_down();
        barrier.arrive_and_wait();
        semaphore.release();
        number++;
        number.notify_all();
        barrier.arrive_and_wait();
    });
    latch.arrive_and_wait();
    semaphore.acquire();
    semaphore.acquire();
    CHECK(!semaphore.try_acquire() && !semaphore.try_acquire_for(1ms));
    for (int seen = number; seen < 2; seen = number) number.wait(seen);
    auto future = std::async(std::launch::async, [] { return 6; });
    CHECK(future.get() == 6);
    std::promise<int> promise;
    auto failing = promise.get_future();
    std::thread([&] { promise.set_exception(std::make_exception_ptr(5)); }).join();
    try {
        failing.get();
        CHECK(!"it throws");
    } catch (int thrown) {
        CHECK(thrown == 5);
    }
    std::promise<int> never;
    CHECK(never.get_future().wait_for(2ms) == std::future_status::timeout);
}

// Time.

void timed_waits() {
    std::mutex lock;
    std::condition_variable condition;
    std::unique_lock held(lock);
    auto start = std::chrono::steady_clock::now();
    CHECK(condition.wait_for(held, 100ms) == std::cv_status::timeout);
    auto passed = std::chrono::steady_clock::now() - start;
    CHECK(passed >= 100ms && passed < 10s);
    CHECK(condition.wait_until(held, std::chrono::system_clock::now() + 10ms) == std::cv_status::timeout);
    CHECK(condition.wait_until(held, start) == std::cv_status::timeout);
    std::thread waker([&] { lock.lock(), lock.unlock(), condition.notify_one(); });
    CHECK(condition.wait_for(held, 1h) == std::cv_status::no_timeout);
    held.unlock();
    waker.join();
}

void sleepers_wake_in_order() {
    std::mutex lock;
    std::vector<int> order;
    std::vector<std::thread> threads;
    for (int i : {3, 1, 2}) {
        threads.emplace_back([&, i] {
            std::this_thread::sleep_for(i * 1s);
            std::lock_guard held(lock);
            order.push_back(i);
        });
    }
    for (auto &thread : threads) thread.join();
    CHECK((order == std::vector{1, 2, 3}));
    auto until = in(CLOCK_REALTIME, 1000);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == 0);
    CHECK(in(CLOCK_REALTIME, 0).tv_sec >= until.tv_sec);
    CHECK(usleep(10) == 0 && sleep(1) == 0);
}

void clocks_pass_for_who_looks() {
    auto until = std::chrono::steady_clock::now() + 200ms;
    std::atomic<bool> never{false};
    while (!never.load() && std::chrono::steady_clock::now() < until) {
    }
    struct timeval day;
    gettimeofday(&day, nullptr);
    CHECK(std::abs(time(nullptr) - day.tv_sec) <= 1);
}

void random_numbers() {
    std::array<unsigned char, 32> a{}, b{};
    CHECK(getrandom(a.data(), a.size(), 0) == ssize_t(a.size()) && getentropy(b.data(), b.size()) == 0);
    CHECK(a != b);
    CHECK(syscall(SYS_getrandom, b.data(), b.size(), 0) == long(b.size()));
    CHECK(a != b);
    // Drawn numbers appear in the recorded steps.
    static std::atomic<uint64_t> drawn{0};
    uint64_t number;
    std::memcpy(&number, a.data(), sizeof number);
    drawn = number;
    drawn = std::random_device()();
}

// Signals.

std::atomic<int> handled{0};

void handle(int) { handled++; }

void handle_signal(int signal, int flags = 0) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = flags;
    CHECK(sigaction(signal, &action, nullptr) == 0);
}

void signals_between_threads() {
    handle_signal(SIGUSR1);
    std::atomic<int> work{0};
    std::thread target([&] {
        while (handled.load() < 2) work++, std::this_thread::yield();
    });
    CHECK(pthread_kill(target.native_handle(), SIGUSR1) == 0);
    while (handled.load() < 1) std::this_thread::yield();
    CHECK(pthread_kill(target.native_handle(), SIGUSR1) == 0);
    target.join();
    CHECK(handled == 2);
    CHECK(raise(SIGUSR1) == 0 && handled == 3);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    while (handled.load() < 4) std::this_thread::yield();
    std::signal(SIGUSR2, handle);
    CHECK(raise(SIGUSR2) == 0 && handled == 5);
    CHECK(std::signal(SIGUSR2, SIG_IGN) == handle);
    CHECK(raise(SIGUSR2) == 0 && handled == 5);
}

void signals_from_outside() {
    handle_signal(SIGALRM, SA_RESTART);
    struct itimerval often = {{0, 1000}, {0, 1000}};
    CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
    std::mutex lock;
    std::atomic<long> rounds{0};
    both([&](int) {
        while (handled.load() < 3) {
            std::lock_guard held(lock);
            rounds++;
            // Signals come in real time, and only a thread that waits for outside events waits for that.
            poll(nullptr, 0, 1);
        }
    });
    often = {};
    setitimer(ITIMER_REAL, &often, nullptr);
    CHECK(handled >= 3);
}

void signals_interrupt() {
    handle_signal(SIGUSR1);
    sem_t never;
    sem_init(&never, 0, 0);
    std::thread target([&] {
        struct timespec left, long_time = {3600, 0};
        CHECK(nanosleep(&long_time, &left) == -1 && errno == EINTR && left.tv_sec > 3000);
        CHECK(handled == 1);
        CHECK(sem_wait(&never) == -1 && errno == EINTR);
        CHECK(handled == 2);
    });
    // The sleep ends only if no thread is enabled: sleeping here lets it begin.
    usleep(1000);
    pthread_kill(target.native_handle(), SIGUSR1);
    usleep(1000);
    pthread_kill(target.native_handle(), SIGUSR1);
    target.join();
    CHECK(handled == 2);
}

void signals_waited_for() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
    handle_signal(SIGUSR1);
    std::thread sender([] { kill(getpid(), SIGUSR1); });
    int signal = 0;
    CHECK(sigwait(&set, &signal) == 0 && signal == SIGUSR1);
    sender.join();
    struct timespec little = {0, 1000000};
    CHECK(sigtimedwait(&set, nullptr, &little) == -1 && errno == EAGAIN);
    CHECK(handled == 0);
}

// The handler is called at a step of the thread, so unwinding passes through the runtime. The thread has nothing to
// clean up: compilers assume that atomic operations do not unwind.
void a_handler_ends_a_thread() {
    struct sigaction action = {};
    action.sa_handler = [](int) { pthread_exit(reinterpret_cast<void *>(9)); };
    CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
    static int rounds = 0;
    pthread_t thread;
    auto body = [](void *) -> void * {
        while (true) __atomic_fetch_add(&rounds, 1, __ATOMIC_SEQ_CST), sched_yield();
    };
    CHECK(pthread_create(&thread, nullptr, body, nullptr) == 0);
    while (__atomic_load_n(&rounds, __ATOMIC_SEQ_CST) == 0) std::this_thread::yield();
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    void *result = nullptr;
    CHECK(pthread_join(thread, &result) == 0 && result == reinterpret_cast<void *>(9));
}

extern "C" uint64_t omnilink_sched_call();
extern "C" void omnilink_sched_settle();

// Not every recorder can be unwound through, so no handler is called while one announces an operation.
void a_handler_waits_for_the_recorder() {
    static volatile sig_atomic_t is_recording = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) {
        CHECK(!is_recording);
        handled++;
    };
    CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
    std::thread target([] {
        while (handled.load() == 0) {
            is_recording = 1;
            omnilink_sched_call();
            is_recording = 0;
            omnilink_sched_settle();
        }
    });
    CHECK(pthread_kill(target.native_handle(), SIGUSR1) == 0);
    target.join();
    CHECK(handled == 1);
}

// The outside world.

void polls() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct pollfd wanted = {ends[0], POLLIN, 0};
    CHECK(poll(&wanted, 1, 0) == 0);
    CHECK(poll(&wanted, 1, 20) == 0);
    char byte = 0;
    std::thread writer([&] { CHECK(write(ends[1], "x", 1) == 1); });
    CHECK(poll(&wanted, 1, -1) == 1 && wanted.revents == POLLIN);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    writer.join();
    std::thread again([&] { CHECK(write(ends[1], "y", 1) == 1); });
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'y');
    again.join();
    std::thread third([&] { CHECK(write(ends[1], "z", 1) == 1); });
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    CHECK(select(ends[0] + 1, &set, nullptr, nullptr, nullptr) == 1 && FD_ISSET(ends[0], &set));
    third.join();
    struct timeval little = {0, 1000};
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'z');
    CHECK(select(ends[0] + 1, &set, nullptr, nullptr, &little) == 0);
    struct timespec short_time = {0, 1000};
    CHECK(ppoll(&wanted, 1, &short_time, nullptr) == 0);
}

void epolls() {
    int queue = epoll_create1(0), counter = eventfd(0, 0);
    struct epoll_event wanted = {EPOLLIN, {.u32 = 5}};
    CHECK(epoll_ctl(queue, EPOLL_CTL_ADD, counter, &wanted) == 0);
    struct epoll_event found[4];
    CHECK(epoll_wait(queue, found, 4, 5) == 0);
    std::thread writer([&] {
        uint64_t one = 1;
        CHECK(write(counter, &one, sizeof one) == sizeof one);
    });
    CHECK(epoll_wait(queue, found, 4, -1) == 1 && found[0].data.u32 == 5);
    writer.join();
    uint64_t value = 0;
    CHECK(read(counter, &value, sizeof value) == sizeof value && value == 1);
}

void sockets() {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    std::thread echo([&] {
        char byte;
        CHECK(recv(ends[1], &byte, 1, 0) == 1);
        CHECK(send(ends[1], &byte, 1, 0) == 1);
    });
    CHECK(send(ends[0], "q", 1, 0) == 1);
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    CHECK(recvmsg(ends[0], &message, 0) == 1 && byte == 'q');
    echo.join();
    CHECK(recv(ends[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un_like {
        sa_family_t family;
        char path[32];
    } address = {AF_UNIX, {}};
    std::snprintf(address.path + 1, sizeof address.path - 1, "breaks-%d", getpid());
    auto *any = reinterpret_cast<struct sockaddr *>(&address);
    CHECK(bind(listening, any, sizeof address) == 0 && listen(listening, 1) == 0);
    std::thread client([&] {
        int mine = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(connect(mine, any, sizeof address) == 0);
        close(mine);
    });
    int accepted = accept(listening, nullptr, nullptr);
    CHECK(accepted >= 0);
    CHECK(recv(accepted, &byte, 1, 0) == 0);
    client.join();
}

void full_pipes() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
    std::vector<char> much(10000, 'm'), got;
    std::thread reader([&] {
        char some[1000];
        while (got.size() < much.size()) {
            ssize_t count = read(ends[0], some, sizeof some);
            CHECK(count > 0);
            got.insert(got.end(), some, some + count);
        }
    });
    CHECK(write(ends[1], much.data(), much.size()) == ssize_t(much.size()));
    reader.join();
    CHECK(got == much);
}

void forks() {
    static std::mutex lock;
    static std::atomic<int> done{0};
    std::thread other([] {
        for (int i = 0; i < 5; i++) {
            std::lock_guard held(lock);
            done++;
        }
    });
    pid_t child = fork();
    if (child == 0) {
        // The only thread here, and without control; threads can be created, and wait.
        std::atomic<int> mine{0};
        std::mutex own;
        both([&](int) {
            std::lock_guard held(own);
            mine++;
            std::this_thread::sleep_for(1ms);
        });
        _exit(mine == 2 ? 7 : 8);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    other.join();
    CHECK(done == 5);
    pid_t spawned;
    const char *words[] = {"/bin/sh", "-c", "test -z \"$OMNILINK_SCHED$LD_PRELOAD\" && exit 9", nullptr};
    CHECK(posix_spawn(&spawned, "/bin/sh", nullptr, nullptr, const_cast<char **>(words), environ) == 0);
    CHECK(waitpid(spawned, &status, 0) == spawned && WEXITSTATUS(status) == 9);
    FILE *output = popen("echo hello", "r");
    char line[16] = {};
    CHECK(std::fgets(line, sizeof line, output) != nullptr && std::string(line) == "hello\n");
    pclose(output);
}

void errno_is_kept() {
    std::mutex lock;
    std::condition_variable condition;
    std::atomic<int> number{0};
    both([&](int thread) {
        errno = 1000 + thread;
        for (int i = 0; i < 5; i++) {
            lock.lock();
            number++;
            lock.unlock();
            condition.notify_one();
            std::this_thread::yield();
            CHECK(errno == 1000 + thread);
        }
    });
    int before = errno = 77;
    std::thread([] { errno = 5; }).join();
    CHECK(errno == before);
}

void main_ends_before_others() {
    static std::atomic<int> done{0};
    std::thread([] {
        done++;
        std::this_thread::sleep_for(1ms);
        done++;
    }).detach();
    pthread_exit(nullptr);
}

void the_kernel_knows_the_numbers() {
    both([](int) {
        cpu_set_t processors;
        CHECK(sched_getaffinity(gettid(), sizeof processors, &processors) == 0);
        CHECK(syscall(SYS_sched_getaffinity, gettid(), sizeof processors, &processors) > 0);
        CHECK(sched_setaffinity(gettid(), sizeof processors, &processors) == 0);
        CHECK(sched_getscheduler(gettid()) == SCHED_OTHER);
        errno = 0;
        CHECK(getpriority(PRIO_PROCESS, gettid()) >= -20 && errno == 0);
        CHECK(tgkill(getpid(), gettid(), 0) == 0);
        CHECK(syscall(SYS_tgkill, getpid(), gettid(), 0) == 0);
        CHECK(syscall(SYS_tkill, gettid(), 0) == 0);
    });
}

// A program that ignores `SIGCHLD` before `main`.
const bool ignores = std::getenv("BREAKS_IGNORES") != nullptr && std::signal(SIGCHLD, SIG_IGN) != SIG_ERR;

void children_are_ignored() {
    CHECK(ignores);
    CHECK(std::signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

sem_t fired;

void alarms_end_waits() {
    CHECK(sem_init(&fired, 0, 0) == 0);
    CHECK(std::signal(SIGALRM, [](int) { sem_post(&fired); }) != SIG_ERR);
    ualarm(20000, 0);
    while (sem_wait(&fired) != 0) CHECK(errno == EINTR);
}

// What must be detected.

void pipes_have_an_order() {
    int ends[2];
    CHECK(pipe(ends) == 0);
    char order[2];
    both([&](int thread) { CHECK(write(ends[1], thread == 0 ? "a" : "b", 1) == 1); });
    CHECK(read(ends[0], order, 2) == 2);
    _exit(order[0] == 'a' ? 0 : 7);
}

void breaks_the_heap() {
    // While there is another thread the C library locks its heap, also when it finds it broken.
    std::counting_semaphore<1> end(0);
    std::thread other([&] { end.acquire(); });
    void *first = std::malloc(5000);
    void *second = std::malloc(5000);
    asm volatile("" ::"r"(second));
    std::free(first);
    asm volatile("" : "+r"(first));
    std::free(first);
    end.release();
    other.join();
}

// The C library creates a thread for background reads, and one that reports them; the runtime does not see them start.
void unseen_threads_meet_others() {
    static std::mutex met;
    static char byte;
    static struct aiocb request = {};
    request.aio_fildes = open("/dev/zero", O_RDONLY);
    request.aio_buf = &byte;
    request.aio_nbytes = 1;
    request.aio_sigevent.sigev_notify = SIGEV_THREAD;
    request.aio_sigevent.sigev_notify_function = [](union sigval) { std::lock_guard lock(met); };
    CHECK(aio_read(&request) == 0);
    // Not a step: no other thread is enabled.
    for (;;) syscall(SYS_getppid);
}

void timers_create_threads() {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = [](union sigval) {};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

void livelock() {
    std::atomic<bool> never{false};
    while (!never.load()) {
    }
}

void deadlock() {
    std::mutex a, b;
    std::thread other([&] {
        std::lock_guard first(b);
        std::this_thread::sleep_for(1ms);
        std::lock_guard second(a);
    });
    std::lock_guard first(a);
    std::this_thread::sleep_for(1ms);
    std::lock_guard second(b);
    other.join();
}

void cancels() {
    std::atomic<bool> go{false};
    std::thread target([&] {
        while (!go.load()) std::this_thread::yield();
    });
    CHECK(pthread_cancel(target.native_handle()) == 0);
    go = true;
    target.join();
}

const std::map<std::string, void (*)()> MODES = {
    {"pthread-exit", pthread_exit_ends_a_thread},
    {"attributes", attributes_are_only_read},
    {"tls-destructors", cpp_destructors_run},
    {"key-destructors", key_destructors_run},
    {"detached", detached_threads_run},
    {"exit-live", exit_with_live_threads},
    {"try-join", join_with_limits},
    {"early-thread", threads_before_main},
    {"static-init", static_initialization_races},
    {"mutex", mutexes},
    {"recursive", recursive_mutexes},
    {"pi-mutex", inheriting_mutexes},
    {"pi-futex", inheriting_futexes},
    {"futex", futexes},
    {"spin-lock", spin_locks},
    {"rwlock", rwlocks},
    {"semaphore", semaphores},
    {"barrier", barriers},
    {"once", once},
    {"condvar", condition_variables},
    {"condvar-clock", condition_variable_clocks},
    {"c11", c11_threads},
    {"cpp20", cpp20},
    {"timed", timed_waits},
    {"sleep-order", sleepers_wake_in_order},
    {"clock", clocks_pass_for_who_looks},
    {"random", random_numbers},
    {"signal", signals_between_threads},
    {"signal-outside", signals_from_outside},
    {"signal-interrupts", signals_interrupt},
    {"signal-wait", signals_waited_for},
    {"signal-exits", a_handler_ends_a_thread},
    {"signal-recorder", a_handler_waits_for_the_recorder},
    {"poll", polls},
    {"epoll", epolls},
    {"socket", sockets},
    {"full-pipe", full_pipes},
    {"fork", forks},
    {"errno", errno_is_kept},
    {"main-exits", main_ends_before_others},
    {"numbers", the_kernel_knows_the_numbers},
    {"ignored-children", children_are_ignored},
    {"alarm", alarms_end_waits},
    {"pipe-order", pipes_have_an_order},
    {"broken-heap", breaks_the_heap},
    {"unseen-thread", unseen_threads_meet_others},
    {"timer-thread", timers_create_threads},
    {"livelock", livelock},
    {"deadlock", deadlock},
    {"cancel", cancels},
};

} // namespace

int main(int count, char **words) {
    auto mode = MODES.find(count > 1 ? words[1] : "list");
    if (mode == MODES.end()) {
        for (auto &[name, body] : MODES) std::puts(name.c_str());
        return count > 1 && std::string(words[1]) != "list";
    }
    mode->second();
}
