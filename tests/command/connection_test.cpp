// SPDX-License-Identifier: Apache-2.0

// The connection's commands: greeting, authentication, databases, CLIENT, leaving.

#include <gtest/gtest.h>

#include <string>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace testing;

const std::string kWrongPassword =
    error("WRONGPASS invalid username-password pair or user is disabled.");
const std::string kLockedOut = error("NOAUTH Authentication required.");

class Connection : public ::testing::Test {
 protected:
  void SetUp() override {
    world.services.known.resize(2);
    for (std::uint64_t i = 0; i < 2; ++i) {
      ClientInfo& info = world.services.known[i];
      info.id = i + 1;
      info.address = "127.0.0.1:" + std::to_string(10 * (i + 1));
      info.local_address = "127.0.0.1:1";
    }
  }
  World world;
  Client client{world};
};

TEST_F(Connection, PingAndEcho) {
  EXPECT_EQ(client({"PING"}), "+PONG\r\n");
  EXPECT_EQ(client({"PING", "a\r\nb"}), bulk("a\r\nb"));
  EXPECT_EQ(client({"PING", "a", "b"}), error("ERR wrong number of arguments for 'ping' command"));
  EXPECT_EQ(client({"ECHO", "hi"}), bulk("hi"));
  EXPECT_EQ(client({"ECHO"}), error("ERR wrong number of arguments for 'echo' command"));
}

TEST_F(Connection, SelectChangesTheDatabase) {
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"SELECT", "15"}), kOk);
  EXPECT_EQ(client({"GET", "a"}), kNull);
  EXPECT_EQ(client({"SELECT", "16"}), error("ERR DB index is out of range"));
  EXPECT_EQ(client({"SELECT", "-1"}), error("ERR DB index is out of range"));
  EXPECT_EQ(client({"SELECT", "x"}), error("ERR value is not an integer or out of range"));
  EXPECT_EQ(client({"SELECT", "99999999999"}),
            error("ERR value is out of range, value must between -2147483648 and 2147483647"));
  EXPECT_EQ(client.session.database, 15);
}

TEST_F(Connection, SelectWithinABatchCountsForWhatFollows) {
  EXPECT_EQ(
      client.send(
          {{"SET", "a", "0"}, {"SELECT", "1"}, {"SET", "a", "1"}, {"SELECT", "0"}, {"GET", "a"}}),
      kOk + kOk + kOk + kOk + bulk("0"));
}

TEST_F(Connection, HelloGreetsInTheProtocolChosen) {
  const auto fields = [](const std::string& proto) {
    return bulk("server") + bulk("redis") + bulk("version") + bulk("7.0.15") + bulk("proto") + ":" +
           proto + "\r\n" + bulk("id") + ":1\r\n" + bulk("mode") + bulk("standalone") +
           bulk("role") + bulk("master") + bulk("modules") + "*0\r\n";
  };
  EXPECT_EQ(client({"HELLO"}), "*14\r\n" + fields("2"));
  EXPECT_EQ(client({"HELLO", "3"}), "%7\r\n" + fields("3"));
  EXPECT_EQ(client({"GET", "none"}), "_\r\n");
  EXPECT_EQ(client({"HELLO"}), "%7\r\n" + fields("3"));
  EXPECT_EQ(client({"HELLO", "2"}), "*14\r\n" + fields("2"));
  EXPECT_EQ(client({"GET", "none"}), kNull);
}

TEST_F(Connection, HelloRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(client({"HELLO", "9"}), error("NOPROTO unsupported protocol version"));
  EXPECT_EQ(client({"HELLO", "x"}),
            error("ERR Protocol version is not an integer or out of range"));
  EXPECT_EQ(client({"HELLO", "3", "SETNAME"}), error("ERR Syntax error in HELLO option 'SETNAME'"));
  EXPECT_EQ(client({"HELLO", "3", "AUTH", "a"}), error("ERR Syntax error in HELLO option 'AUTH'"));
  EXPECT_EQ(client({"HELLO", "3", "SETNAME", "x", "y"}),
            error("ERR Syntax error in HELLO option 'y'"));
  EXPECT_EQ(client({"HELLO", "3", "AUTH", "a", "b"}), kWrongPassword);
  EXPECT_EQ(client.session.protocol, 2);
}

TEST_F(Connection, WithoutAPasswordConfiguredAuthSaysSo) {
  EXPECT_EQ(client({"AUTH", "x"}),
            error("ERR AUTH <password> called without any password configured for the default "
                  "user. Are you sure your configuration is correct?"));
  EXPECT_EQ(client({"AUTH", "default", "x"}), kOk);
  EXPECT_EQ(client({"AUTH", "other", "x"}), kWrongPassword);
  EXPECT_EQ(client({"AUTH", "a", "b", "c"}), error("ERR syntax error"));
}

TEST_F(Connection, APasswordIsAskedForAndChecked) {
  world.services.password = "secret";
  Client guest(world, 2);
  EXPECT_EQ(guest({"GET", "a"}), kLockedOut);
  EXPECT_EQ(guest({"HELLO", "3"}).substr(0, 7), "-NOAUTH");
  EXPECT_EQ(guest({"AUTH", "wrong"}), kWrongPassword);
  EXPECT_EQ(guest({"AUTH", "other", "secret"}), kWrongPassword);
  EXPECT_EQ(guest({"AUTH", "secret"}), kOk);
  EXPECT_EQ(guest({"GET", "a"}), kNull);
  EXPECT_EQ(guest({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(guest({"GET", "a"}), kLockedOut);
  EXPECT_EQ(guest({"HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"}).substr(0, 4),
            "%7\r\n");
  EXPECT_EQ(guest({"CLIENT", "GETNAME"}), bulk("me"));
}

TEST_F(Connection, ResetBringsTheBeginningBack) {
  client({"HELLO", "3", "SETNAME", "me"});
  client({"SELECT", "4"});
  client({"MULTI"});
  EXPECT_EQ(client({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), kNull);
  EXPECT_EQ(client.session.database, 0);
  EXPECT_FALSE(client.session.in_multi);
}

TEST_F(Connection, QuitRepliesAndNothingAfterItRuns) {
  EXPECT_EQ(client.send({{"QUIT"}, {"SET", "a", "1"}}), kOk);
  EXPECT_TRUE(client.session.close_after_reply);
  Client other(world, 2);
  EXPECT_EQ(other({"EXISTS", "a"}), integer(0));
}

TEST_F(Connection, QuitAndResetRunWithinMulti) {
  client({"MULTI"});
  EXPECT_EQ(client({"QUIT"}), kOk);
  EXPECT_TRUE(client.session.close_after_reply);
}

TEST_F(Connection, NamesArePlainText) {
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), kNull);
  EXPECT_EQ(client({"CLIENT", "SETNAME", "a b"}),
            error("ERR Client names cannot contain spaces, newlines or special characters."));
  EXPECT_EQ(client({"CLIENT", "SETNAME", "me"}), kOk);
  EXPECT_EQ(client({"client", "getname"}), bulk("me"));
  EXPECT_EQ(client({"CLIENT", "SETNAME", ""}), kOk);
  EXPECT_EQ(client({"CLIENT", "GETNAME"}), kNull);
  EXPECT_EQ(client({"CLIENT", "SETINFO", "LIB-NAME", "lib"}), kOk);
  EXPECT_EQ(client({"CLIENT", "SETINFO", "lib-ver", "1.2"}), kOk);
  EXPECT_EQ(client({"CLIENT", "SETINFO", "lib-ver", "1 2"}),
            error("ERR lib-ver cannot contain spaces, newlines or special characters."));
  EXPECT_EQ(client({"CLIENT", "SETINFO", "x", "1"}), error("ERR Unrecognized option 'x'"));
}

TEST_F(Connection, ClientListHasALineForEach) {
  client({"CLIENT", "SETNAME", "me"});
  const std::string all = client({"CLIENT", "LIST"});
  EXPECT_NE(all.find("id=1 addr=127.0.0.1:10 laddr=127.0.0.1:1 fd=-1 name=me age=0 idle=0 "
                     "flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 "
                     "multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r "),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("\nid=2 "), std::string::npos);
  EXPECT_EQ(client({"CLIENT", "LIST", "ID", "2", "99"}).find("id=1"), std::string::npos);
  EXPECT_EQ(client({"CLIENT", "LIST", "TYPE", "pubsub"}), bulk(""));
  EXPECT_EQ(client({"CLIENT", "LIST", "TYPE", "normal"}), all);
  EXPECT_NE(client({"CLIENT", "INFO"}).find("name=me"), std::string::npos);
  EXPECT_EQ(client({"CLIENT", "INFO"}).find("id=2"), std::string::npos);
}

TEST_F(Connection, ClientListRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(client({"CLIENT", "LIST", "TYPE", "foo"}), error("ERR Unknown client type 'foo'"));
  EXPECT_EQ(client({"CLIENT", "LIST", "ID"}), error("ERR syntax error"));
  EXPECT_EQ(client({"CLIENT", "LIST", "ID", "x"}), error("ERR Invalid client ID"));
  EXPECT_EQ(client({"CLIENT", "LIST", "FOO"}), error("ERR syntax error"));
  EXPECT_EQ(client({"CLIENT", "FOO"}), error("ERR unknown subcommand 'FOO'. Try CLIENT HELP."));
  EXPECT_EQ(client({"CLIENT"}), error("ERR wrong number of arguments for 'client' command"));
  EXPECT_EQ(client({"CLIENT", "ID", "x"}),
            error("ERR wrong number of arguments for 'client|id' command"));
}

TEST_F(Connection, ClientKillByAddressAndByFilter) {
  EXPECT_EQ(client({"CLIENT", "KILL", "1.2.3.4:5"}), error("ERR No such client"));
  EXPECT_EQ(client({"CLIENT", "KILL", ""}), error("ERR No such client"));
  EXPECT_EQ(client({"CLIENT", "KILL", "127.0.0.1:20"}), kOk);
  EXPECT_EQ(client({"CLIENT", "KILL", "ID", "1"}), integer(0));
  EXPECT_EQ(client({"CLIENT", "KILL", "ID", "1", "SKIPME", "no"}), integer(1));
  EXPECT_EQ(client({"CLIENT", "KILL", "ADDR", ""}), integer(0));
  EXPECT_EQ(client({"CLIENT", "KILL", "TYPE", "Slave", "USER", "default"}), integer(1));
  EXPECT_EQ(world.services.killed.back().type, "replica");
}

TEST_F(Connection, ClientKillRefusesWhatItDoesNotKnow) {
  const std::string not_an_id = error("ERR client-id should be greater than 0");
  EXPECT_EQ(client({"CLIENT", "KILL", "ID", "x"}), not_an_id);
  EXPECT_EQ(client({"CLIENT", "KILL", "ID", "0"}), not_an_id);
  EXPECT_EQ(client({"CLIENT", "KILL", "TYPE", "foo"}), error("ERR Unknown client type 'foo'"));
  EXPECT_EQ(client({"CLIENT", "KILL", "USER", "foo"}), error("ERR No such user 'foo'"));
  EXPECT_EQ(client({"CLIENT", "KILL", "USER", "default", "SKIPME", "foo"}),
            error("ERR syntax error"));
  EXPECT_EQ(client({"CLIENT", "KILL", "ADDR", "1.2.3.4:5", "LADDR"}), error("ERR syntax error"));
  EXPECT_EQ(client({"CLIENT", "KILL", "FOO", "bar"}), error("ERR syntax error"));
  EXPECT_TRUE(world.services.killed.empty());
}

TEST_F(Connection, ClientReplySwitchesRepliesOffAndOn) {
  EXPECT_EQ(client.send({{"CLIENT", "REPLY", "OFF"},
                         {"PING"},
                         {"CLIENT", "REPLY", "SKIP"},
                         {"PING"},
                         {"CLIENT", "REPLY", "ON"},
                         {"PING"}}),
            kOk + "+PONG\r\n");
  EXPECT_EQ(client.send({{"CLIENT", "REPLY", "SKIP"}, {"PING", "1"}, {"PING", "2"}}), bulk("2"));
  EXPECT_EQ(client.send({{"CLIENT", "REPLY", "SKIP"}, {"CLIENT", "REPLY", "ON"}}), kOk);
  EXPECT_EQ(client({"CLIENT", "REPLY", "FOO"}), error("ERR syntax error"));
}

TEST_F(Connection, SwitchesOfTheSessionTakeOnAndOff) {
  EXPECT_EQ(client({"CLIENT", "NO-EVICT", "on"}), kOk);
  EXPECT_TRUE(client.session.no_evict);
  EXPECT_EQ(client({"CLIENT", "NO-TOUCH", "ON"}), kOk);
  EXPECT_EQ(client({"CLIENT", "NO-TOUCH", "OFF"}), kOk);
  EXPECT_FALSE(client.session.no_touch);
  EXPECT_EQ(client({"CLIENT", "NO-EVICT", "foo"}), error("ERR syntax error"));
}

TEST_F(Connection, ClientHelpNamesEverySubcommand) {
  const std::string help = client({"CLIENT", "HELP"});
  for (const char* name : {"+ID\r\n", "+LIST ", "+KILL ", "+SETINFO ", "+HELP\r\n"}) {
    EXPECT_NE(help.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace nidus::command
