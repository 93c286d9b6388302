/* Records two transactions that write the same key of a WiredTiger database. The second one is told to roll back, and
 * tries to commit instead: first when it has written nothing else, and then when it has.
 *
 * One thread works for both sessions, so the recording is the same every time, but for its times.
 */

#define _XOPEN_SOURCE 700

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <wiredtiger.h>

#include "omnilink/recorder.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A session, and the process it is in the recording. */
typedef struct client {
  WT_SESSION *session;
  WT_CURSOR *cursor;
  omnilink_process *process;
} client;

static omnilink_action *begin_action, *update_action, *commit_action;

/* Whatever is not part of the experiment must not go wrong. */
static void must(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %s\n", what, wiredtiger_strerror(code));
  exit(1);
}

/* What a call says: that it worked, that the transaction is to be rolled back, or that the call is not allowed. */
static omnilink_value status(int code) {
  return omnilink_string(code == 0 ? "ok" : code == WT_ROLLBACK ? "rollback" : "refused");
}

static void begin(client *client) {
  omnilink_call(client->process, begin_action, NULL);
  must(client->session->begin_transaction(client->session, "isolation=snapshot"), "begin_transaction");
  omnilink_done(client->process, NULL);
}

static void update(client *client, int64_t key, int64_t value) {
  omnilink_call(client->process, update_action, (omnilink_value[]){omnilink_int(key)});
  client->cursor->set_key(client->cursor, key);
  client->cursor->set_value(client->cursor, value);
  const int code = client->cursor->update(client->cursor);
  omnilink_done(client->process, (omnilink_value[]){status(code)});
}

static void commit(client *client) {
  omnilink_call(client->process, commit_action, NULL);
  const int code = client->session->commit_transaction(client->session, NULL);
  omnilink_done(client->process, (omnilink_value[]){status(code)});
}

static client open_client(WT_CONNECTION *connection, omnilink_recorder *recorder, const char *name) {
  client client = {.process = omnilink_process_create(recorder, name)};
  must(connection->open_session(connection, NULL, NULL, &client.session), "open_session");
  must(client.session->create(client.session, "table:study", "key_format=q,value_format=q"), "create");
  must(client.session->open_cursor(client.session, "table:study", NULL, NULL, &client.cursor), "open_cursor");
  return client;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

int main(void) {
  const char *const trace = getenv("OMNILINK_TRACE");
  char home[] = "/tmp/wiredtiger-XXXXXX";
  if (mkdtemp(home) == NULL) must(WT_ERROR, home);
  WT_CONNECTION *connection;
  must(wiredtiger_open(home, NULL, "create", &connection), "wiredtiger_open");

  static const char *const key[] = {"key"};
  static const char *const says[] = {"status"};
  begin_action = omnilink_action_create("Begin", NULL, 0, NULL, 0);
  update_action = omnilink_action_create("Update", key, COUNT(key), says, COUNT(says));
  commit_action = omnilink_action_create("Commit", NULL, 0, says, COUNT(says));
  omnilink_recorder *const recorder = omnilink_recorder_create(trace == NULL ? "trace" : trace);
  client first = open_client(connection, recorder, "first");
  client second = open_client(connection, recorder, "second");

  begin(&first);
  begin(&second);
  update(&first, 1, 10);
  update(&second, 1, 20);
  commit(&second);
  commit(&first);

  begin(&first);
  begin(&second);
  update(&second, 2, 30);
  update(&first, 1, 40);
  update(&second, 1, 50);
  commit(&second);
  commit(&first);

  omnilink_process_free(first.process);
  omnilink_process_free(second.process);
  omnilink_recorder_free(recorder);
  must(connection->close(connection, NULL), "close");
  return nftw(home, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : 1;
}
