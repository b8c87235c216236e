#include "catena/files/netcdf/netcdf.h"

#include <fmt/format.h>
#include <netcdf.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "data_path.h"
#include "files/support.h"

namespace catena::files::netcdf_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What `catena sample` will write: an ArviZ file in small.
Group arviz_like() {
  const std::vector<std::int64_t> chains = {0, 1}, draws = {0, 1, 2};
  Group posterior{.name = "posterior",
                  .dimensions = {{"chain", 2}, {"draw", 3}},
                  .variables = {{"chain", {"chain"}, chains},
                                {"draw", {"draw"}, draws},
                                {"α",
                                 {"chain", "draw"},
                                 std::vector<double>{1, -0.0, infinity, -infinity, 5e-324, 6},
                                 {{"units", "1/s"}}}},
                  .attributes = {{"inference_library", "catena"},
                                 {"n", 3},
                                 {"scale", 0.5},
                                 {"list", {1.5, 2.5}},
                                 {"whole", {1, 2}},
                                 {"names", {"a", "größe"}},
                                 {"unicode", "größe"},
                                 {"empty", ""},
                                 {"none", nlohmann::json::array()}}};
  Group stats{.name = "sample_stats",
              .dimensions = {{"chain", 2}, {"draw", 3}},
              .variables = {{"lp", {"chain", "draw"}, std::vector<float>{1, 2, 3, 4, 5, 6.5F}}}};
  Group observed{.name = "observed_data",
                 .dimensions = {{"variable", 2}, {"nothing", 0}},
                 .variables = {{"variable", {"variable"}, std::vector<std::string>{"", "größe"}},
                               {"empty", {"nothing", "variable"}, std::vector<double>{}},
                               {"scalar", {}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}},
                               {"text", {}, std::vector<std::string>{"one"}}}};
  return {.name = "", .attributes = {{"title", "test"}}, .groups = {posterior, stats, observed}};
}

/// A small file that claims a huge variable, which was never written.
void write_claim(const std::filesystem::path& path, const std::vector<std::size_t>& sizes) {
  int file = 0, variable = 0;
  std::vector<int> dimensions(sizes.size());
  ASSERT_EQ(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file), NC_NOERR);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(nc_def_dim(file, fmt::format("d{}", i).c_str(), sizes[i], &dimensions[i]), NC_NOERR);
  }
  ASSERT_EQ(nc_def_var(file, "huge", NC_DOUBLE, static_cast<int>(sizes.size()), dimensions.data(), &variable),
            NC_NOERR);
  const std::vector<std::size_t> chunk(sizes.size(), 16);
  ASSERT_EQ(nc_def_var_chunking(file, variable, NC_CHUNKED, chunk.data()), NC_NOERR);
  ASSERT_EQ(nc_close(file), NC_NOERR);
}

}  // namespace

TEST(Netcdf, WritesAndReadsBack) {
  const TemporaryFolder folder;
  const Group root = arviz_like();
  write_netcdf(folder / "größe.nc", root);
  const Group back = read_netcdf(folder / "größe.nc");
  EXPECT_EQ(back, root);
  EXPECT_TRUE(std::signbit(std::get<0>(back.group("posterior").variable("α").values)[1]));
  EXPECT_EQ(back.group("posterior").dimension("draw"), 3U);
  EXPECT_FALSE(back.contains("α"));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Netcdf, KeepsNaNAsValueAndAsFillValue) {
  const TemporaryFolder folder;
  const double missing = std::nan("");
  write_netcdf(folder / "a.nc",
               {.name = "",
                .dimensions = {{"t", 1}},
                .variables = {{"x", {"t"}, std::vector<float>{std::nanf("")}, {{"_FillValue", missing}}}}});
  const Variable x = read_netcdf(folder / "a.nc").variable("x");
  EXPECT_TRUE(std::isnan(std::get<1>(x.values)[0]));
  EXPECT_TRUE(std::isnan(x.attributes.at("_FillValue").get<double>()));
}

TEST(Netcdf, FindsDimensionsInTheGroupsAround) {
  const TemporaryFolder folder;
  const Group root{.name = "",
                   .dimensions = {{"t", 2}},
                   .groups = {{.name = "inner", .variables = {{"x", {"t"}, std::vector<double>{1, 2}}}}}};
  write_netcdf(folder / "a.nc", root);
  EXPECT_EQ(read_netcdf(folder / "a.nc"), root);
}

// python.nc: written by netCDF4-python; the recipe is tests/data/make_goldens.py.
TEST(Netcdf, ReadsAFileOfPython) {
  const Group group = read_netcdf(CATENA_TEST_DATA "/python.nc").group("posterior");
  EXPECT_EQ(group.variable("theta").values, Values(std::vector<double>{0, 0.25, 0.5, 0.75, 1, 1.25}));
  EXPECT_EQ(group.variable("theta").attributes.at("units"), "1/s");
  EXPECT_EQ(group.variable("count").values, Values(std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(group.variable("names").values, Values(std::vector<std::string>{"a", "größe"}));
  EXPECT_EQ(group.variable("letters").values, Values(std::vector<std::string>{"ab", "cdef"}));
  EXPECT_EQ(group.variable("letters").dimensions, std::vector<std::string>{"chain"});
  EXPECT_EQ(group.variable("packed").values, Values(std::vector<float>{1, 2, 3}));
  EXPECT_EQ(group.attributes.at("levels"), nlohmann::json({0.5, 1.5}));
}

TEST(Netcdf, ReadsTheClassicFormats) {
  for (const char* name : {"netcdf3_classic.nc", "netcdf3_64bit_data.nc"}) {
    const Group root = read_netcdf(std::filesystem::path(CATENA_TEST_DATA "/../fuzz/corpus/netcdf") / name);
    EXPECT_EQ(root.variable("theta").values, Values(std::vector<double>{0, 0.25, 0.5, 0.75, 1, 1.25}));
  }
}

TEST(Netcdf, RefusesTruncatedFiles) {
  const TemporaryFolder folder;
  const std::string whole = get_bytes(CATENA_TEST_DATA "/python.nc");
  for (std::size_t length = 0; length < whole.size(); length += 251) {  // prime, so that every kind of place is met
    put_bytes(folder / "a.nc", whole.substr(0, length));
    EXPECT_THROW(read_netcdf(folder / "a.nc"), FileError) << length;
  }
}

TEST(Netcdf, RefusesWhatIsNoNetcdfFile) {
  const TemporaryFolder folder;
  put_bytes(folder / "a.nc", "hello, world");
  expect_error([&] { read_netcdf(folder / "a.nc"); }, "a.nc: is a CSV or another text, but must be a netCDF file");
  expect_error([&] { read_netcdf(folder / "none.nc"); }, "there is no such file");
  expect_error([&] { read_netcdf(folder.path()); }, "not a regular file");
  expect_error([&] { read_netcdf("http://localhost/a.nc"); }, "there is no such file");
}

TEST(Netcdf, RefusesTerabytesInASmallFile) {
  const TemporaryFolder folder;
  write_claim(folder / "a.nc", {std::size_t{1} << 31, std::size_t{1} << 10});
  expect_error([&] { read_netcdf(folder / "a.nc"); }, "claims more values than");
  write_claim(folder / "b.nc", {std::size_t{1} << 31, std::size_t{1} << 31, std::size_t{1} << 31});
  expect_error([&] { read_netcdf(folder / "b.nc"); }, "product overflows");
}

TEST(Netcdf, RefusesMoreThanTheLimit) {
  const TemporaryFolder folder;
  write_netcdf(folder / "a.nc",
               {.name = "", .dimensions = {{"t", 1000}}, .variables = {{"x", {"t"}, std::vector<double>(1000)}}});
  EXPECT_NO_THROW(read_netcdf(folder / "a.nc", {.max_bytes = 10000}));
  expect_error([&] { read_netcdf(folder / "a.nc", {.max_bytes = 7999}); }, "claims more values");
}

TEST(Netcdf, RefusesDeepGroupsAndForeignTypes) {
  const TemporaryFolder folder;
  Group deep{.name = "g"};
  for (int i = 0; i < 40; ++i) deep = Group{.name = "g", .groups = {deep}};
  write_netcdf(folder / "deep.nc", {.name = "", .groups = {deep}});
  expect_error([&] { read_netcdf(folder / "deep.nc"); }, "deeper than 32 levels");

  int file = 0, type = 0, variable = 0;
  ASSERT_EQ(nc_create((folder / "type.nc").c_str(), NC_NETCDF4, &file), NC_NOERR);
  ASSERT_EQ(nc_def_compound(file, 4, "pair", &type), NC_NOERR);
  ASSERT_EQ(nc_insert_compound(file, type, "a", 0, NC_INT), NC_NOERR);
  ASSERT_EQ(nc_def_var(file, "strange", type, 0, nullptr, &variable), NC_NOERR);
  ASSERT_EQ(nc_close(file), NC_NOERR);
  expect_error([&] { read_netcdf(folder / "type.nc"); }, "\"strange\" has a type that is neither number nor text");

  const unsigned long long large = std::numeric_limits<unsigned long long>::max();
  ASSERT_EQ(nc_create((folder / "large.nc").c_str(), NC_NETCDF4, &file), NC_NOERR);
  ASSERT_EQ(nc_def_var(file, "large", NC_UINT64, 0, nullptr, &variable), NC_NOERR);
  ASSERT_EQ(nc_put_var_ulonglong(file, variable, &large), NC_NOERR);
  ASSERT_EQ(nc_close(file), NC_NOERR);
  expect_error([&] { read_netcdf(folder / "large.nc"); }, "not representable");
}

TEST(Netcdf, DoesNotWriteNonsense) {
  const TemporaryFolder folder;
  const auto write = [&](const Group& root) { write_netcdf(folder / "a.nc", root); };
  const std::vector<double> one = {1};
  expect_error<InputError>([&] { write({.name = "", .variables = {{"x", {"t"}, one}}}); }, "dimension of x is \"t\"");
  expect_error<InputError>([&] { write({.name = "", .dimensions = {{"t", 2}}, .variables = {{"x", {"t"}, one}}}); },
                           "must be 2");
  expect_error<InputError>([&] { write({.name = "", .variables = {{"a/b", {}, one}}}); }, "without a slash");
  expect_error<InputError>([&] { write({.name = "", .attributes = {{"a", nlohmann::json::object()}}}); },
                           "a number, a text");
  expect_error<InputError>([&] { write({.name = "", .attributes = {{"a", {1, "b"}}}}); }, "a number, a text");
  expect_error<InputError>([&] { write({.name = "", .attributes = {{"a", std::string("b\0c", 3)}}}); }, "NUL");
  expect_error([&] { write({.name = "", .variables = {{"x", {}, one}, {"x", {}, one}}}); }, "in use");
  expect_error([&] { write_netcdf(folder / "none/a.nc", {.name = ""}); }, "none does not exist");
  EXPECT_EQ(folder.entries(), 0);
}

TEST(Netcdf, AFileThatCannotGrowLeavesTheOldOne) {
  const TemporaryFolder folder;
  write_netcdf(folder / "a.nc", arviz_like());
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20000, 20000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Group large{
        .name = "", .dimensions = {{"t", 100000}}, .variables = {{"x", {"t"}, std::vector<double>(100000)}}};
    int result = 9;
    try {
      write_netcdf(folder / "a.nc", large);
    } catch (const FileError& error) {
      result = std::string(error.what()).find("larger than this system allows") != std::string::npos ? 7 : 8;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(read_netcdf(folder / "a.nc"), arviz_like());
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Netcdf, ThreadsMayReadAndWriteAtTheSameTime) {
  const TemporaryFolder folder;
  const Group root = arviz_like();
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto path = folder / fmt::format("t{}.nc", t);
        write_netcdf(path, root);
        good[static_cast<std::size_t>(t)] += read_netcdf(path) == root ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 10));
}

}  // namespace catena::files::netcdf_test
