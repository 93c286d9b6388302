// A program with its own allocator, which has a lock; and threads that hold many locks at a time.

#include <cstddef>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
bool is_inside;
alignas(16) char area[64 << 20];
std::size_t used;

constexpr int LOCKS = 40;
pthread_mutex_t locks[LOCKS];

void *hold_all(void *) {
    for (auto &each : locks) pthread_mutex_lock(&each);
    for (auto &each : locks) pthread_mutex_unlock(&each);
    return nullptr;
}

} // namespace

extern "C" void *malloc(std::size_t size) {
    pthread_mutex_lock(&lock);
    if (is_inside) _exit(1);
    is_inside = true;
    char *start = area + used;
    std::memcpy(start, &size, sizeof size);
    used += 16 + (size + 15) / 16 * 16;
    is_inside = false;
    pthread_mutex_unlock(&lock);
    return start + 16;
}

extern "C" void free(void *) {}

extern "C" void *calloc(std::size_t count, std::size_t size) {
    // Unused memory is zero.
    return malloc(count * size);
}

extern "C" void *realloc(void *old, std::size_t size) {
    void *start = malloc(size);
    if (old != nullptr) {
        std::size_t before;
        std::memcpy(&before, static_cast<char *>(old) - 16, sizeof before);
        std::memcpy(start, old, before < size ? before : size);
    }
    return start;
}

int main() {
    pthread_t threads[2];
    for (auto &thread : threads) {
        if (pthread_create(&thread, nullptr, hold_all, nullptr) != 0) return 1;
    }
    for (auto &thread : threads) pthread_join(thread, nullptr);
}
