#include "catena/core/registry.h"

#include <gtest/gtest.h>

namespace catena::registry_test {

namespace {

struct Animal {
  std::string_view name;
  int legs;
};

const Registry<Animal> animals("animal", {{"cat", 4}, {"hen", 2}, {"snake", 0}});

}  // namespace

TEST(Registry, FindsWhatItHolds) {
  EXPECT_EQ(animals.at("zoo", "hen").legs, 2);
  ASSERT_NE(animals.find("snake"), nullptr);
  EXPECT_EQ(animals.find("snake")->legs, 0);
  EXPECT_EQ(animals.find("sna"), nullptr);
  EXPECT_EQ(animals.kind(), "animal");
}

TEST(Registry, NamesTheChoicesWhenAskedForSomethingElse) {
  try {
    animals.at("zoo", "cow");
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "zoo: animal is \"cow\", but must be one of cat, hen, snake");
  }
}

TEST(Registry, IsWalkedInTheOrderInWhichItIsWritten) {
  std::vector<std::string> walked;
  for (const Animal& animal : animals) walked.emplace_back(animal.name);
  EXPECT_EQ(walked, animals.names());
  EXPECT_EQ(walked, (std::vector<std::string>{"cat", "hen", "snake"}));
  EXPECT_EQ(animals.entries().size(), 3U);
}

TEST(Registry, RefusesTwoEntriesOfOneName) {
  EXPECT_THROW(Registry<Animal>("animal", {{"cat", 4}, {"cat", 3}}), InternalError);
}

}  // namespace catena::registry_test
