// SPDX-License-Identifier: Apache-2.0

// However the network cuts requests, the replies are the same, in order, and complete.

#include "harness.hpp"

namespace nidus::server::test {
namespace {

TEST(ServerFraming, ARequestSplitAtEveryByteGetsTheSameReply) {
  TestServer node;
  const std::string bytes = "\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n";
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    Client client(node.port());
    ASSERT_TRUE(client.send(bytes.substr(0, cut)));
    std::this_thread::sleep_for(milliseconds(2));
    client.expect(bytes.substr(cut), "$5\r\nhello\r\n");
  }
}

TEST(ServerFraming, ARequestSentByteByByteIsAnswered) {
  TestServer node;
  Client client(node.port());
  for (const char byte : request({"SET", "key", std::string(300, 'v')})) {
    ASSERT_TRUE(client.send({&byte, 1}));
  }
  EXPECT_EQ(client.read(5), "+OK\r\n");
}

TEST(ServerFraming, TenThousandPipelinedRequestsAreAnsweredInOrder) {
  TestServer node;
  Client client(node.port());
  std::string requests, replies;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = std::to_string(i * 7919);
    requests += request({"ECHO", text});
    replies += bulk(text);
  }
  std::thread sender([&] { EXPECT_TRUE(client.send(requests)); });
  EXPECT_EQ(client.read(replies.size()), replies);
  sender.join();
}

TEST(ServerFraming, ABigValueComesBackUnchanged) {
  TestServer node;
  Client client(node.port());
  std::string value(std::size_t{20} << 20, '\0');
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 31 >> 3);
  std::thread sender([&] {
    EXPECT_TRUE(client.send(request({"SET", "big", value}) + request({"GET", "big"})));
  });
  EXPECT_EQ(client.read(5), "+OK\r\n");
  EXPECT_TRUE(client.read_bulk() == value);
  sender.join();
  EXPECT_TRUE(eventually([&] {
    return node.server.services().server_info().client_memory_bytes < (std::size_t{1} << 20);
  })) << "the buffers of a big request are given back";
}

TEST(ServerFraming, NulAndLineEndsInKeysAndValuesRoundTrip) {
  TestServer node;
  Client client(node.port());
  const std::string key("a\0b\r\nc", 6), value("\0\r\n$3\r\n\0", 9);
  client.expect(request({"SET", key, value}), "+OK\r\n");
  client.expect(request({"GET", key}), bulk(value));
  client.expect(request({"SET", "", "empty key"}), "+OK\r\n");
  client.expect(request({"GET", ""}), bulk("empty key"));
}

TEST(ServerFraming, AProtocolErrorIsAnsweredBehindTheRepliesBeforeItAndCloses) {
  TestServer node;
  Client client(node.port());
  ASSERT_TRUE(
      client.send(request({"ECHO", "first"}) + "*1\r\n$-1\r\n" + request({"ECHO", "never"})));
  EXPECT_EQ(client.read_to_end(), bulk("first") + "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(client.ended());
  Client second(node.port());
  ASSERT_TRUE(second.send("*2147483648\r\n"));
  EXPECT_EQ(second.read_to_end(), "-ERR Protocol error: invalid multibulk length\r\n");
  EXPECT_TRUE(second.ended());
}

TEST(ServerFraming, QuitAnswersAndCloses) {
  TestServer node;
  Client client(node.port());
  ASSERT_TRUE(client.send(request({"QUIT"}) + request({"ECHO", "never"})));
  EXPECT_EQ(client.read_to_end(), "+OK\r\n");
  EXPECT_TRUE(client.ended());
}

TEST(ServerFraming, AClientThatShutsItsSideDownStillGetsItsReplies) {
  TestServer node;
  Client client(node.port());
  const std::string value(4 << 20, 'x');
  client.expect(request({"SET", "k", value}), "+OK\r\n");
  ASSERT_TRUE(client.send(request({"GET", "k"}) + request({"GET", "k"})));
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.read_to_end().size(), 2 * bulk(value).size());
  EXPECT_TRUE(client.ended());
}

TEST(ServerFraming, BeforeAuthRequestsAreHeldToSmallLimitsAndBehindItInTheSamePipelineAreNot) {
  Config config = test_config();
  config.password = "secret";
  TestServer node(config);
  Client client(node.port());
  client.expect(request({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  client.expect(request({"AUTH", "wrong"}),
                "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  const std::string big(20'000, 'b');  // above the 16 KiB of a stranger
  client.expect(request({"AUTH", "secret"}) + request({"ECHO", big}), "+OK\r\n" + bulk(big));
  Client stranger(node.port());
  ASSERT_TRUE(stranger.send(request({"ECHO", big})));
  EXPECT_EQ(stranger.read_to_end(), "-ERR Protocol error: unauthenticated bulk length\r\n");
}

}  // namespace
}  // namespace nidus::server::test
