// A buffer of capacity one, a thread that puts two elements in, and two threads that take one out each.
//
//   condvar        threads waiting for space and for an element use different condition variables
//   condvar bug    all use one, and one thread is woken: perhaps one that waits for the same as the waking thread,
//                  and then all wait forever
//
// Exits with 1 if the output differs from the input.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace {

class Buffer {
 public:
  explicit Buffer(bool has_bug) : emptied_(has_bug ? filled_ : own_emptied_) {}

  void put(int element) {
    std::unique_lock<std::mutex> lock(mutex_);
    emptied_.wait(lock, [&] { return !element_; });
    element_ = element;
    filled_.notify_one();
  }

  int take() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [&] { return element_.has_value(); });
    const int element = *element_;
    element_.reset();
    emptied_.notify_one();
    return element;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable own_emptied_;
  std::condition_variable& emptied_;
  std::optional<int> element_;
};

}  // namespace

int main(int count, char** arguments) {
  Buffer buffer(count > 1 && std::string_view(arguments[1]) == "bug");
  int first = 0, second = 0;
  std::thread one([&] { first = buffer.take(); });
  std::thread other([&] { second = buffer.take(); });
  std::thread producer([&] {
    buffer.put(1);
    buffer.put(2);
  });
  one.join();
  other.join();
  producer.join();
  return first + second == 3 && first != second ? 0 : 1;
}
