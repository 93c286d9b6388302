/* Records the operations of a concurrent C program. The C++ header, recorder.hpp, documents all of it.
 *
 *   static const char *const elem[] = {"elem"};
 *   omnilink_recorder *recorder = omnilink_recorder_create("trace");
 *   omnilink_action *enqueue = omnilink_action_create("Enqueue", elem, 1, NULL, 0);
 *   omnilink_process *process = omnilink_process_create(recorder, "c1");    one per thread
 *
 *   omnilink_call(process, enqueue, (omnilink_value[]){omnilink_int(7)});
 *   queue_push(&queue, 7);
 *   omnilink_done(process, NULL);
 *
 * A process has at most one open call, so nothing else is needed to name it. As many values are read as the action has
 * names for. Any error ends the program with a message: a history with a hole would be worse.
 */

#ifndef OMNILINK_RECORDER_H
#define OMNILINK_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct omnilink_recorder omnilink_recorder;
typedef struct omnilink_process omnilink_process;
typedef struct omnilink_action omnilink_action;

enum omnilink_kind {
  OMNILINK_NIL,
  OMNILINK_BOOL,
  OMNILINK_INT,
  OMNILINK_DOUBLE,
  OMNILINK_STRING,
  OMNILINK_TUPLE,
  OMNILINK_SET,
  OMNILINK_FUNCTION,
  OMNILINK_UINT
};

/* A value. It refers to its characters and items, and is read only while a function that got it runs. */
typedef struct omnilink_value {
  enum omnilink_kind kind;
  union {
    bool truth;
    int64_t integer;
    uint64_t natural;
    double number;
    const char *text;
    const struct omnilink_value *items; /* of a function: argument, result, argument, result */
  } as;
  size_t length; /* bytes of a string; items of a tuple or set; items of a function, two for each argument */
} omnilink_value;

omnilink_value omnilink_nil(void);
omnilink_value omnilink_bool(bool truth);
omnilink_value omnilink_int(int64_t integer);
omnilink_value omnilink_uint(uint64_t integer);
omnilink_value omnilink_double(double number);
omnilink_value omnilink_string(const char *text); /* up to its zero */
omnilink_value omnilink_tuple(const omnilink_value *items, size_t count);
omnilink_value omnilink_set(const omnilink_value *items, size_t count);
omnilink_value omnilink_function(const omnilink_value *items, size_t count);

/* Creates the directory, if it does not exist, and writes its manifest. */
omnilink_recorder *omnilink_recorder_create(const char *directory);
void omnilink_recorder_free(omnilink_recorder *recorder);

/* Copies all names. An empty name is positional. Must outlive the processes that use it. */
omnilink_action *omnilink_action_create(const char *name, const char *const *arguments, size_t argument_count,
                                        const char *const *results, size_t result_count);
void omnilink_action_free(omnilink_action *action);

/* A thread, a client, a session. Freeing it ends its segment; a call that is open then is unfinished. */
omnilink_process *omnilink_process_create(omnilink_recorder *recorder, const char *name);
void omnilink_process_free(omnilink_process *process);

/* Publishes that an action begins. If another call is open, that one is unfinished. */
void omnilink_call(omnilink_process *process, const omnilink_action *action, const omnilink_value *arguments);

/* The open call returned; returned as another action; had no effect. */
void omnilink_done(omnilink_process *process, const omnilink_value *results);
void omnilink_done_as(omnilink_process *process, const omnilink_action *action, const omnilink_value *arguments,
                      const omnilink_value *results);
void omnilink_failed(omnilink_process *process);

/* The outcome of the open call is unknown; the same, but it cannot take effect from now on. */
void omnilink_unknown(omnilink_process *process);
void omnilink_unknown_by_now(omnilink_process *process);

/* A note about the open call; it has done nothing so far; it has taken effect by now. */
void omnilink_meta(omnilink_process *process, const char *key, omnilink_value value);
void omnilink_refine_start(omnilink_process *process);
void omnilink_refine_end(omnilink_process *process);

#ifdef __cplusplus
}
#endif

#endif
