/* A C program that records one of everything, and looks at what it wrote. */

#include <omnilink/recorder.h>

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t size_of(const char *directory, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "rb");
  assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  fclose(file);
  return (size_t)size;
}

/* A value that cannot be recorded ends the program with a message, here a child of this one. */
static void check_refused(omnilink_process *process, const omnilink_action *action, omnilink_value value) {
  pid_t child = fork();
  assert(child >= 0);
  if (child == 0) {
    omnilink_call(process, action, &value);
    _exit(0);
  }
  int status = 0;
  assert(waitpid(child, &status, 0) == child);
  assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(int count, char **arguments) {
  assert(count == 2);
  const char *directory = arguments[1];
  char clean[4096];
  snprintf(clean, sizeof clean, "rm -rf '%s'", directory);
  assert(system(clean) == 0);

  static const char *const key_and_value[] = {"key", "value"};
  static const char *const value[] = {"value"};
  omnilink_recorder *recorder = omnilink_recorder_create(directory);
  omnilink_action *put = omnilink_action_create("Put", key_and_value, 2, NULL, 0);
  omnilink_action *get = omnilink_action_create("Get", key_and_value, 1, value, 1);
  omnilink_action *miss = omnilink_action_create("Miss", key_and_value, 1, NULL, 0);
  omnilink_process *process = omnilink_process_create(recorder, "c1");

  const omnilink_value pair[] = {omnilink_int(1), omnilink_double(1.5)};
  omnilink_call(process, put, (const omnilink_value[]){omnilink_string("k"), omnilink_tuple(pair, 2)});
  omnilink_meta(process, "node", omnilink_string("n1"));
  omnilink_done(process, NULL);

  const omnilink_value one[] = {omnilink_string("k")};
  omnilink_call(process, get, one);
  omnilink_refine_start(process);
  omnilink_refine_end(process);
  omnilink_done(process, (const omnilink_value[]){omnilink_function(pair, 2)});

  omnilink_call(process, get, one);
  omnilink_done_as(process, miss, one, NULL);

  omnilink_call(process, put, (const omnilink_value[]){omnilink_nil(), omnilink_set(pair, 2)});
  omnilink_failed(process);

  omnilink_call(process, put, (const omnilink_value[]){omnilink_bool(true), omnilink_bool(false)});
  omnilink_call(process, get, one); /* the one before never finished, so this is another process */
  omnilink_done(process, one);

  omnilink_value unknown = omnilink_tuple(NULL, 1);
  unknown.kind = (enum omnilink_kind)99;
  check_refused(process, get, unknown);
  omnilink_value levels[34] = {omnilink_int(1)};
  for (int i = 0; i < 33; ++i) levels[i + 1] = omnilink_tuple(&levels[i], 1);
  check_refused(process, get, levels[33]);

  omnilink_process_free(process);
  omnilink_action_free(miss);
  omnilink_action_free(get);
  omnilink_action_free(put);
  omnilink_recorder_free(recorder);

  assert(size_of(directory, "manifest.json") == 58);
  assert(size_of(directory, "000.seg") > 100);
  assert(size_of(directory, "001.seg") > 40);
  return 0;
}
