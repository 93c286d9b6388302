// Records transactions of several sessions on a few keys of a WiredTiger database.
//
//   transactions steps ISOLATION   every begin, read, write, commit and rollback is an operation, for Snapshot.tla
//   transactions whole ISOLATION   every transaction is one operation from its begin to its commit, for Serializable.tla
//
// The isolation is one that WiredTiger knows, such as `snapshot` or `read-committed`. Each run has a database of its own,
// which is gone when the run is over. Every value is written once, so that what is read says who wrote it.

#include <unistd.h>
#include <wiredtiger.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "omnilink/drive.hpp"

namespace {

constexpr omnilink::Action BEGIN{"Begin"};
constexpr omnilink::Action READ{"Read", {"key"}, {"value"}};
constexpr omnilink::Action WRITE{"Write", {"key", "value"}, {"status"}};
constexpr omnilink::Action COMMIT{"Commit"};
constexpr omnilink::Action ROLLBACK{"Rollback"};
constexpr omnilink::Action TRANSACT{"Transact", {"key", "value"}, {"sees"}};

constexpr std::array<std::string_view, 3> KEYS{"x", "y", "z"};

// Whatever the study does not ask about must not go wrong.
void must(int code, const char* what) {
  if (code != 0) throw std::runtime_error(std::string(what) + ": " + wiredtiger_strerror(code));
}

// A database in a directory of its own, in which every key has the value 0.
class Database {
 public:
  explicit Database(const std::string& isolation) : isolation_("isolation=" + isolation) {
    std::string home = std::filesystem::temp_directory_path() / "wiredtiger-XXXXXX";
    if (::mkdtemp(home.data()) == nullptr) must(WT_ERROR, "mkdtemp");
    home_ = home;
    must(wiredtiger_open(home.c_str(), nullptr, "create", &connection_), "wiredtiger_open");
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    connection_->close(connection_, nullptr);
    std::error_code ignored;
    std::filesystem::remove_all(home_, ignored);
  }

  WT_CONNECTION* connection() { return connection_; }
  // How transactions begin.
  const char* isolation() const { return isolation_.c_str(); }

 private:
  std::string isolation_;
  std::filesystem::path home_;
  WT_CONNECTION* connection_ = nullptr;
};

// What one thread has of the database.
class Session {
 public:
  explicit Session(Database& database) : isolation_(database.isolation()) {
    WT_CONNECTION* const connection = database.connection();
    must(connection->open_session(connection, nullptr, nullptr, &session_), "open_session");
    must(session_->create(session_, "table:study", "key_format=S,value_format=q"), "create");
    must(session_->open_cursor(session_, "table:study", nullptr, nullptr, &cursor_), "open_cursor");
  }

  void begin() { must(session_->begin_transaction(session_, isolation_), "begin_transaction"); }
  void commit() { must(session_->commit_transaction(session_, nullptr), "commit_transaction"); }
  void rollback() { must(session_->rollback_transaction(session_, nullptr), "rollback_transaction"); }

  std::int64_t read(std::string_view key) {
    std::int64_t value = 0;
    cursor_->set_key(cursor_, key.data());
    must(cursor_->search(cursor_), "search");
    must(cursor_->get_value(cursor_, &value), "get_value");
    return value;
  }

  // Whether it is written: if not, the transaction is to be rolled back.
  bool write(std::string_view key, std::int64_t value) {
    cursor_->set_key(cursor_, key.data());
    cursor_->set_value(cursor_, value);
    const int code = cursor_->update(cursor_);
    if (code != WT_ROLLBACK) must(code, "update");
    return code == 0;
  }

 private:
  const char* isolation_;
  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
};

std::int64_t new_value(omnilink::Client& client) { return client.draw().fresh() + 1; }

bool write_step(Session& session, omnilink::Client& client) {
  const std::string_view key = client.draw().one_of(KEYS);
  const std::int64_t value = new_value(client);
  auto call = client.call(WRITE, key, value);
  const bool is_written = session.write(key, value);
  call.done(is_written ? "ok" : "rollback");
  return is_written;
}

void read_step(Session& session, omnilink::Client& client) {
  const std::string_view key = client.draw().one_of(KEYS);
  auto call = client.call(READ, key);
  call.done(session.read(key));
}

void end_step(Session& session, omnilink::Client& client, bool is_commit) {
  auto call = client.call(is_commit ? COMMIT : ROLLBACK);
  is_commit ? session.commit() : session.rollback();
  call.done();
}

// A transaction of a few reads and writes in any order. A write that fails ends it.
void steps(Session& session, omnilink::Client& client) {
  auto call = client.call(BEGIN);
  session.begin();
  call.done();
  bool is_sound = true;
  for (std::uint64_t rest = 2 + client.draw().below(4); rest != 0 && is_sound; --rest) {
    if (client.draw().below(3) == 0) {
      is_sound = write_step(session, client);
    } else {
      read_step(session, client);
    }
  }
  end_step(session, client, is_sound && client.draw().below(8) != 0);
}

// A transaction that looks at all keys and then writes one of them. Others may run in between.
void whole(Session& session, omnilink::Client& client) {
  const std::string_view key = client.draw().one_of(KEYS);
  const std::int64_t value = new_value(client);
  auto call = client.call(TRANSACT, key, value);
  session.begin();
  std::map<std::string_view, std::int64_t> sees;
  for (const std::string_view each : KEYS) sees[each] = session.read(each);
  std::this_thread::yield();
  if (session.write(key, value)) {
    session.commit();
    call.done(sees);
  } else {
    session.rollback();
    call.failed();
  }
}

void run(void (*transaction)(Session&, omnilink::Client&), const std::string& isolation) {
  const auto plan = omnilink::Plan::from_env();
  Database database(isolation);
  Session first(database);
  for (const std::string_view key : KEYS) first.write(key, 0);
  omnilink::run(plan, database, [](Database& shared, std::size_t) { return Session(shared); },
                [transaction](Database&, Session& session, omnilink::Client& client) { transaction(session, client); });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count == 3 ? arguments[1] : "";
  if (what != "steps" && what != "whole") {
    std::fprintf(stderr, "usage: transactions steps|whole ISOLATION\n");
    return 2;
  }
  try {
    run(what == "steps" ? steps : whole, arguments[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
