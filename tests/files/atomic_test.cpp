#include "catena/files/atomic.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "files/support.h"

namespace catena::files::atomic_test {
namespace {

/// Runs `work` in a process of its own, which ends with the value that it returns.
int in_process(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 0;
    try {
      result = work();
    } catch (...) {
      result = 99;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST(Atomic, WritesAFileAndReadsItBack) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  write_file(folder / "größe", bytes);
  EXPECT_EQ(read_file(folder / "größe", 100), bytes);
  write_file(folder / "größe", "");
  EXPECT_EQ(read_file(folder / "größe", 100), "");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Atomic, AnExceptionLeavesTheOldFileAndNoTemporary) {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  EXPECT_THROW(
      {
        AtomicFile file(folder / "file");
        file.write("new");
        throw std::runtime_error("trouble");
      },
      std::runtime_error);
  EXPECT_EQ(get_bytes(folder / "file"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Atomic, AKillInTheMiddleLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  EXPECT_EQ(in_process([&] {
              AtomicFile file(folder / "file");
              file.write("new");
              ::raise(SIGKILL);
              return 0;
            }),
            -SIGKILL);
  EXPECT_EQ(get_bytes(folder / "file"), "old");
  write_file(folder / "file", "newer");  // what the dead process left behind is in nobody's way
  EXPECT_EQ(get_bytes(folder / "file"), "newer");
}

TEST(Atomic, TheNextWriterRemovesWhatAKilledOneLeftAndNothingElse) {
  const TemporaryFolder folder;
  const auto write_and_die = [&](const char* name) {
    EXPECT_EQ(in_process([&]() -> int {
                AtomicFile file(folder / name);
                file.write("half");
                ::raise(SIGKILL);
                return 0;
              }),
              -SIGKILL);
  };
  write_and_die("a");
  write_and_die("a.1");  // another file, whose temporary begins alike
  AtomicFile living(folder / "a");
  living.write("slow");
  EXPECT_EQ(folder.entries(), 2u);  // that of a.1, and the living one
  write_file(folder / "a", "quick");
  EXPECT_EQ(folder.entries(), 3u);
  living.commit();
  EXPECT_EQ(read_file(folder / "a", 100), "slow");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(Atomic, AFileThatCannotGrowLeavesTheOldOneAndSaysWhy) {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  EXPECT_EQ(in_process([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                write_file(folder / "file", std::string(5000, 'x'));
              } catch (const FileError& error) {
                return std::string(error.what()).find("larger than this system allows") != std::string::npos ? 7 : 8;
              }
              return 9;
            }),
            7);
  EXPECT_EQ(get_bytes(folder / "file"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Atomic, SaysWhyAFileCannotBeWritten) {
  const TemporaryFolder folder;
  expect_error([&] { write_file(folder / "none/file", "x"); }, "none does not exist");
  expect_error([&] { write_file(folder.path(), "x"); }, "not a regular file");
  expect_error([] { write_file("/dev/full", "x"); }, "not a regular file");
  expect_error([] { detail::fail_writing("a/b", ENOSPC); }, "a/b: cannot be written: the disk is full");
  expect_error([] { detail::fail_writing("a/b", EACCES); }, "no permission to write in a");
  expect_error([] { detail::fail_writing("b", EROFS); }, "read-only");
}

TEST(Atomic, KeepsThePermissionsOfTheOldFileAndTheLinkToIt) {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  ::chmod((folder / "file").c_str(), 0640);
  std::filesystem::create_symlink("file", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(get_bytes(folder / "file"), "new");
  struct stat status{};
  ::stat((folder / "file").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640);
}

TEST(Atomic, ReadingRefusesWhatIsNoFileOrTooLarge) {
  const TemporaryFolder folder;
  write_file(folder / "file", "12345");
  ::mkfifo((folder / "pipe").c_str(), 0600);
  expect_error([&] { read_file(folder / "file", 4); }, "has 5 bytes, but this reader takes at most 4");
  expect_error([&] { read_file(folder / "none", 4); }, "there is no such file");
  expect_error([&] { read_file(folder.path(), 4); }, "not a regular file");
  expect_error([&] { read_file(folder / "pipe", 4); }, "not a regular file");
  expect_error([] { read_file("/dev/zero", 4); }, "not a regular file");
}

}  // namespace catena::files::atomic_test
