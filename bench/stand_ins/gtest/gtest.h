// What the programs of networks-minimal use of GoogleTest: one test a program. What a network computes of weights
// that are not its own cannot be compared with what its authors expected; instead of that the results
// are counted and digested, to be compared between builds.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing {

struct Results {
  uint64_t digest = 0xcbf29ce484222325u;
  unsigned count = 0, infinite = 0, zero = 0;

  void add(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    digest = (digest ^ bits) * 0x100000001b3u;
    count += 1, infinite += !std::isfinite(value), zero += value == 0;
  }
  int end() const {
    std::printf("results: %u, digest %016llx, %u not finite, %u zero\n", count, (unsigned long long)digest, infinite, zero);
    return count == 0;
  }
};

inline Results results;
inline int (*run_test)();

class Test {
public:
  virtual ~Test() {}
  int run() {
    SetUp();
    TestBody();
    TearDown();
    return results.end();
  }

protected:
  virtual void SetUp() {}
  virtual void TearDown() {}
  virtual void TestBody() = 0;
};

} // namespace testing

__attribute__((weak)) int main() { return testing::run_test(); }

#define TEST_F(FIXTURE, NAME)                                                                      \
  struct NAME##_ : FIXTURE {                                                                       \
    void TestBody() override;                                                                      \
  };                                                                                               \
  static const bool NAME##_is_known =                                                              \
      (testing::run_test = [] { return std::make_unique<NAME##_>()->run(); }, true);               \
  void NAME##_::TestBody()
#define TEST(SUITE, NAME) TEST_F(testing::Test, NAME)

#define STAND_IN_REQUIRE(CONDITION, WORDS)                                                         \
  do {                                                                                             \
    if (!(CONDITION)) {                                                                            \
      std::fprintf(stderr, "not so: %s\n", WORDS);                                                 \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)
#define ASSERT_TRUE(CONDITION) STAND_IN_REQUIRE(CONDITION, #CONDITION)
#define ASSERT_EQ(ONE, OTHER) STAND_IN_REQUIRE((ONE) == (OTHER), #ONE " is " #OTHER)
#define ASSERT_NEAR(VALUE, EXPECTED, DISTANCE) testing::results.add(VALUE)
#define ASSERT_LT(VALUE, BOUND) testing::results.add(VALUE)
