// Does not compile: the result of a call has no encoding, and the message says so.

#include <omnilink/object.hpp>

struct Stranger {};

struct Box {
  std::optional<Stranger> get() { return std::nullopt; }
};

int main() { return omnilink::object<Box>().call("get", &Box::get).main(); }
