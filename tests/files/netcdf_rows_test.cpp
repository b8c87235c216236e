#include "catena/files/netcdf/rows.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "files/support.h"

namespace catena::files::netcdf_rows_test {
namespace {

double value(std::size_t row, std::size_t col) { return static_cast<double>(row) + 0.25 * static_cast<double>(col); }

Matrix rows(std::size_t begin, std::size_t end, std::size_t cols) {
  Matrix result(end - begin, cols);
  for (std::size_t r = begin; r < end; ++r) {
    for (std::size_t c = 0; c < cols; ++c) result(r - begin, c) = value(r, c);
  }
  return result;
}

/// 1,050 transitions in chunks of 100: the last one is not full.
RowLayout make_layout() {
  RowLayout result;
  result.rows.name = "transition";
  result.rows.size = 1050;
  result.chunk_rows = 100;
  result.variables.resize(2);
  result.variables[0].name = "theta";
  result.variables[0].columns = {"parameter", 2};
  result.variables[1].name = "x";
  result.variables[1].columns = {"state", 3};
  result.variables[1].single_precision = true;
  result.variables[1].attributes["units"] = "1";
  return result;
}
const RowLayout layout = make_layout();
const Group header{.name = "",
                   .dimensions = {{"parameter", 2}},
                   .variables = {{"parameter", {"parameter"}, std::vector<std::string>{"α", "β"}}},
                   .attributes = {{"seed", 7}}};

void write_chunk(NetcdfWriter& writer, std::size_t chunk) {
  const std::size_t begin = chunk * writer.layout().chunk_rows;
  const std::size_t end = std::min(begin + writer.layout().chunk_rows, writer.layout().rows.size);
  for (const RowVariable& variable : writer.layout().variables) {
    writer.write_rows(variable.name, begin, rows(begin, end, variable.columns.size));
  }
}

/// All chunks that are not complete yet.
void write_rest(NetcdfWriter& writer) {
  for (std::size_t chunk = writer.complete_chunks(); chunk < writer.chunks(); ++chunk) write_chunk(writer, chunk);
  writer.complete(writer.chunks());
}

void expect_whole(const std::filesystem::path& path, std::size_t total) {
  const NetcdfReader reader(path);
  EXPECT_EQ(reader.read_rows("theta", 0, total), rows(0, total, 2));
  EXPECT_EQ(reader.read_rows("x", 0, total), rows(0, total, 3));
  EXPECT_EQ(reader.attributes(), (Attributes{{"seed", 7}}));
}

}  // namespace

TEST(NetcdfRows, WritesAndReadsBack) {
  const TemporaryFolder folder;
  for (const int compression : {0, 4}) {
    RowLayout compressed = layout;
    compressed.compression = compression;
    NetcdfWriter writer(folder / "a.nc", compressed, header);
    EXPECT_EQ(writer.chunks(), 11U);
    write_rest(writer);
    EXPECT_EQ(writer.complete_rows(), 1050U);
    Matrix back(951, 3);
    writer.read_rows("x", 99, back.view());
    EXPECT_EQ(back, rows(99, 1050, 3));
    writer.finish();
    EXPECT_FALSE(NetcdfWriter::has_partial(folder / "a.nc"));
    EXPECT_EQ(folder.entries(), 1);
    expect_whole(folder / "a.nc", 1050);
  }
  const NetcdfReader reader(folder / "a.nc");
  EXPECT_EQ(reader.read("parameter").values, Values(std::vector<std::string>{"α", "β"}));
  EXPECT_EQ(reader.info("x").attributes, (Attributes{{"units", "1"}}));
  EXPECT_EQ(reader.info("x").dimensions, (std::vector<Dimension>{{"transition", 1050}, {"state", 3}}));
  EXPECT_EQ(reader.read_rows("theta", 99, 101), rows(99, 101, 2));
  EXPECT_EQ(reader.read_rows("theta", 1050, 1050).rows(), 0U);
  Matrix wide(10, 5);  // a view whose rows are not contiguous
  reader.read_rows("theta", 40, MatrixView(wide.data() + 1, 10, 2, 5));
  EXPECT_EQ(wide(3, 1), value(43, 0));
  EXPECT_EQ(wide(3, 3), 0);
  // The whole reader sees the same.
  EXPECT_EQ(std::get<0>(read_netcdf(folder / "a.nc").variable("theta").values)[2 * 500 + 1], value(500, 1));
}

TEST(NetcdfRows, FloatsMayBeInfiniteOrMissing) {
  const TemporaryFolder folder;
  RowLayout one = layout;
  one.rows.size = 1;
  NetcdfWriter writer(folder / "a.nc", one, header);
  Matrix values(1, 3);
  values(0, 0) = std::numeric_limits<double>::infinity();
  values(0, 1) = std::nan("");
  writer.write_rows("x", 0, values);
  writer.complete(1);
  writer.finish();
  const Matrix back = NetcdfReader(folder / "a.nc").read_rows("x", 0, 1);
  EXPECT_EQ(back(0, 0), values(0, 0));
  EXPECT_TRUE(std::isnan(back(0, 1)));
}

TEST(NetcdfRows, GoesOnAfterAnException) {
  const TemporaryFolder folder;
  write_netcdf(folder / "a.nc", {.name = "", .attributes = {{"old", 1}}});
  EXPECT_THROW(
      {
        NetcdfWriter writer(folder / "a.nc", layout, header);
        for (std::size_t chunk = 0; chunk < 4; ++chunk) write_chunk(writer, chunk);
        writer.complete(3);
        throw std::runtime_error("trouble");
      },
      std::runtime_error);
  EXPECT_EQ(read_netcdf(folder / "a.nc").attributes, (Attributes{{"old", 1}}));
  ASSERT_TRUE(NetcdfWriter::has_partial(folder / "a.nc"));
  NetcdfWriter writer = NetcdfWriter::resume(folder / "a.nc");
  EXPECT_EQ(writer.complete_chunks(), 3U);
  EXPECT_EQ(writer.complete_rows(), 300U);
  EXPECT_EQ(writer.attributes(), header.attributes);
  write_rest(writer);
  writer.finish();
  expect_whole(folder / "a.nc", 1050);
}

TEST(NetcdfRows, GoesOnAfterAKill) {
  const TemporaryFolder folder;
  write_netcdf(folder / "a.nc", {.name = "", .attributes = {{"old", 1}}});
  RowLayout long_layout = layout;
  long_layout.rows.size = 20000;
  for (int kill = 0; kill < 4; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      NetcdfWriter writer = NetcdfWriter::has_partial(folder / "a.nc")
                                ? NetcdfWriter::resume(folder / "a.nc")
                                : NetcdfWriter(folder / "a.nc", long_layout, header);
      const std::size_t first = writer.complete_chunks();
      for (std::size_t chunk = first; chunk < writer.chunks(); ++chunk) {
        write_chunk(writer, chunk);
        writer.complete(chunk + 1);
        if (chunk == first + 20) {
          write_chunk(writer, chunk + 1);
          ::raise(SIGKILL);
        }
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
  }
  EXPECT_EQ(read_netcdf(folder / "a.nc").attributes, (Attributes{{"old", 1}}));
  NetcdfWriter writer = NetcdfWriter::resume(folder / "a.nc");
  EXPECT_EQ(writer.complete_chunks(), 4U * 21);
  write_rest(writer);
  writer.finish();
  expect_whole(folder / "a.nc", 20000);
}

TEST(NetcdfRows, GoesOnAfterAKillBetweenTheLastRowAndTheNewName) {
  const TemporaryFolder folder;
  {
    NetcdfWriter writer(folder / "a.nc", layout, header);
    write_rest(writer);
    writer.finish();
  }
  std::filesystem::rename(folder / "a.nc", folder / "a.nc.partial");
  NetcdfWriter writer = NetcdfWriter::resume(folder / "a.nc");
  EXPECT_EQ(writer.complete_chunks(), writer.chunks());
  EXPECT_EQ(writer.attributes(), header.attributes);
  writer.finish();
  expect_whole(folder / "a.nc", 1050);
}

TEST(NetcdfRows, RefusesToResumeWhatIsNoPartialFile) {
  const TemporaryFolder folder;
  expect_error([&] { NetcdfWriter::resume(folder / "a.nc"); }, "there is no such file");
  write_netcdf(folder / "a.nc.partial", {.name = ""});
  expect_error([&] { NetcdfWriter::resume(folder / "a.nc"); }, "no usable attribute catena_chunk_rows");
  put_bytes(folder / "a.nc.partial", get_bytes(folder / "a.nc.partial").substr(0, 300));
  expect_error([&] { NetcdfWriter::resume(folder / "a.nc"); }, "a.nc.partial: ");
}

TEST(NetcdfRows, ChecksWhatItIsAskedFor) {
  const TemporaryFolder folder;
  expect_error([&] { NetcdfWriter(folder / "none/a.nc", layout, header); }, "none does not exist");
  NetcdfWriter writer(folder / "a.nc", layout, header);
  expect_error<InputError>([&] { writer.write_rows("y", 0, rows(0, 1, 2)); }, "variable is \"y\"");
  expect_error<InputError>([&] { writer.write_rows("theta", 0, rows(0, 1, 3)); }, "columns is 3, but must be 2");
  expect_error<InputError>([&] { writer.write_rows("theta", 1000, rows(0, 51, 2)); }, "at most 1050");
  expect_error<InputError>([&] { writer.complete(12); }, "between 0 and 11");
  expect_error<InputError>([&] { writer.finish(); }, "must be 11");
  writer.complete(11);
  writer.finish();
  const NetcdfReader reader(folder / "a.nc", {.max_bytes = 8000});
  expect_error([&] { reader.read_rows("y", 0, 1); }, "has no variable \"y\"");
  expect_error([&] { reader.read_rows("parameter", 0, 1); }, "no matrix of numbers");
  expect_error<InputError>([&] { reader.read_rows("theta", 0, 1051); }, "at most 1050");
  expect_error<InputError>([&] { reader.read_rows("theta", 5, 4); }, "begin is 5");
  expect_error([&] { reader.read_rows("theta", 0, 501); }, "more than the 8000 bytes");
  expect_error([&] { reader.read("theta"); }, "claims more values");
  EXPECT_NO_THROW(reader.read_rows("theta", 0, 500));  // the reader lives on after errors
}

TEST(NetcdfRows, ThreadsShareAReader) {
  const TemporaryFolder folder;
  {
    NetcdfWriter writer(folder / "a.nc", layout, header);
    write_rest(writer);
    writer.finish();
  }
  const NetcdfReader reader(folder / "a.nc");
  std::vector<std::thread> threads;
  std::vector<int> good(3, 0);
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 50; ++i) {
        good[t] += reader.read_rows("theta", 7 * i, 7 * i + 20) == rows(7 * i, 7 * i + 20, 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(3, 50));
}

}  // namespace catena::files::netcdf_rows_test
