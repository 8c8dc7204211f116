// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handlers of the string commands, for their table in strings.cpp. Each file holds one kind:
// strings_basic.cpp (one whole value), strings_many.cpp (several keys), strings_edit.cpp (parts of
// a value), strings_count.cpp (values that are numbers), strings_lcs.cpp.

#include "command/context.hpp"

namespace nidus::command {

void get(Context& context);
void set(Context& context);
void setnx(Context& context);
void setex(Context& context);
void psetex(Context& context);
void getset(Context& context);
void getdel(Context& context);
void getex(Context& context);

void mget(Context& context);
void mset(Context& context);
void msetnx(Context& context);

void append(Context& context);
void strlen(Context& context);
void getrange(Context& context);
void setrange(Context& context);

void incr(Context& context);
void decr(Context& context);
void incrby(Context& context);
void decrby(Context& context);
void incrbyfloat(Context& context);

void lcs(Context& context);

}  // namespace nidus::command
