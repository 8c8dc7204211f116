// SPDX-License-Identifier: Apache-2.0
//
// The C client: hiredis with its defaults, a pipeline, a transaction, binary data and protocol errors. Called
// by hiredis_test.py as `hiredis_client PORT`; prints the first check that fails and returns 1.

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char* what) {
  if (!holds) {
    printf("FAILED: %s\n", what);
    ++failures;
  }
}

static int is_text(const redisReply* reply, int type, const char* text) {
  return reply != NULL && reply->type == type && strcmp(reply->str, text) == 0;
}

static void free_reply(redisReply* reply) {
  if (reply != NULL) freeReplyObject(reply);
}

static void simple_commands(redisContext* context) {
  redisReply* reply = redisCommand(context, "FLUSHALL");
  check(is_text(reply, REDIS_REPLY_STATUS, "OK"), "FLUSHALL is OK");
  free_reply(reply);
  reply = redisCommand(context, "SET %s %d", "number", 41);
  check(is_text(reply, REDIS_REPLY_STATUS, "OK"), "SET is OK");
  free_reply(reply);
  reply = redisCommand(context, "INCR number");
  check(reply != NULL && reply->type == REDIS_REPLY_INTEGER && reply->integer == 42,
        "INCR gives 42");
  free_reply(reply);
  reply = redisCommand(context, "GET missing");
  check(reply != NULL && reply->type == REDIS_REPLY_NIL, "a missing key is nil");
  free_reply(reply);
  reply = redisCommand(context, "GET");
  check(is_text(reply, REDIS_REPLY_ERROR, "ERR wrong number of arguments for 'get' command"),
        "GET alone is an error");
  free_reply(reply);
}

static void binary_data(redisContext* context) {
  const char key[] = {'\0', '\r', '\n', (char)0xff};
  char value[70000];
  for (size_t i = 0; i < sizeof value; ++i) value[i] = (char)(i * 31);
  redisReply* reply = redisCommand(context, "SET %b %b", key, sizeof key, value, sizeof value);
  check(is_text(reply, REDIS_REPLY_STATUS, "OK"), "SET of binary data is OK");
  free_reply(reply);
  reply = redisCommand(context, "GET %b", key, sizeof key);
  check(reply != NULL && reply->type == REDIS_REPLY_STRING && reply->len == sizeof value &&
            memcmp(reply->str, value, sizeof value) == 0,
        "binary data comes back");
  free_reply(reply);
}

static void pipeline(redisContext* context) {
  enum { kCommands = 20000 };
  for (int i = 0; i < kCommands; ++i)
    redisAppendCommand(context, i % 2 ? "GET p%d" : "SET p%d %d", i / 2, i / 2);
  for (int i = 0; i < kCommands; ++i) {
    redisReply* reply = NULL;
    if (redisGetReply(context, (void**)&reply) != REDIS_OK) {
      check(0, "every pipelined command is answered");
      return;
    }
    char text[16];
    snprintf(text, sizeof text, "%d", i / 2);
    int holds =
        i % 2 ? is_text(reply, REDIS_REPLY_STRING, text) : is_text(reply, REDIS_REPLY_STATUS, "OK");
    free_reply(reply);
    if (!holds) {
      check(0, "pipelined replies come in order");
      return;
    }
  }
}

static void transaction(redisContext* context) {
  const char* queued[] = {"MULTI", "SET t 1", "INCR t", "GET t"};
  for (int i = 0; i < 4; ++i) {
    redisReply* reply = redisCommand(context, queued[i]);
    check(is_text(reply, REDIS_REPLY_STATUS, i == 0 ? "OK" : "QUEUED"), queued[i]);
    free_reply(reply);
  }
  redisReply* reply = redisCommand(context, "EXEC");
  check(reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
            is_text(reply->element[0], REDIS_REPLY_STATUS, "OK") &&
            reply->element[1]->integer == 2 && is_text(reply->element[2], REDIS_REPLY_STRING, "2"),
        "EXEC gives the three replies");
  free_reply(reply);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  struct timeval timeout = {20, 0};
  redisContext* context = redisConnectWithTimeout("127.0.0.1", atoi(argv[1]), timeout);
  if (context == NULL || context->err) {
    printf("FAILED: connect: %s\n", context ? context->errstr : "out of memory");
    return 1;
  }
  redisSetTimeout(context, timeout);
  simple_commands(context);
  binary_data(context);
  pipeline(context);
  transaction(context);
  check(context->err == 0, "the connection has no error at the end");
  redisFree(context);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
