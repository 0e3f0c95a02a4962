#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/study/sweep/collect.h"
#include "traces/base/status_macros.h"

#ifdef HEDDLE_HAVE_SQLITE

#include <sqlite3.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "tools/console/output.h"

namespace heddle::tools::sweep {
namespace {

std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FreeBytes {
  void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

int Bind(sqlite3_stmt* statement, int index, const ResultColumn& column, const std::string& cell) {
  if (cell.empty() && column.type != ResultColumn::Type::kText) return sqlite3_bind_null(statement, index);
  if (column.type == ResultColumn::Type::kInteger) {
    // SQLite's integers end at 2^63 - 1; what is larger is kept as text, not made wrong.
    int64_t number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error == std::errc()) return sqlite3_bind_int64(statement, index, number);
  }
  if (column.type == ResultColumn::Type::kReal)
    return sqlite3_bind_double(statement, index, strtod(cell.c_str(), nullptr));
  return sqlite3_bind_text(statement, index, cell.data(), static_cast<int>(cell.size()), SQLITE_STATIC);
}

bool Fill(sqlite3* database, const ResultTable& table) {
  std::string columns;
  std::string places;
  for (const ResultColumn& column : table.columns) {
    constexpr const char* kTypes[] = {"TEXT", "INTEGER", "REAL"};
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", Quoted(column.name), " ",
                    kTypes[static_cast<int>(column.type)]);
    absl::StrAppend(&places, places.empty() ? "?" : ", ?");
  }
  const auto run = [database](const std::string& text) {
    return sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  if (!run(absl::StrCat("BEGIN; CREATE TABLE results (", columns, ")"))) return false;
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, absl::StrCat("INSERT INTO results VALUES (", places, ")").c_str(), -1, &raw,
                         nullptr) != SQLITE_OK) {
    return false;
  }
  {
    const std::unique_ptr<sqlite3_stmt, EndStatement> insert(raw);
    for (const std::vector<std::string>& row : table.rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (Bind(raw, static_cast<int>(i) + 1, table.columns[i], row[i]) != SQLITE_OK) return false;
      }
      if (sqlite3_step(raw) != SQLITE_DONE) return false;
      sqlite3_reset(raw);
    }
  }
  return run("COMMIT");
}

using Database = std::unique_ptr<sqlite3, CloseDatabase>;

absl::Status Failed(const std::string& path, sqlite3* database) {
  return absl::UnavailableError(absl::StrCat(
      path, ": cannot make the database: ", database == nullptr ? "out of memory" : sqlite3_errmsg(database),
      "; nothing was written"));
}

// Fills the file's temporary, which nobody else knows: without locks, which some file systems of clusters lack, and
// without a journal, whose file a signal would leave behind.
absl::Status FillTemporary(const ResultTable& table, const std::string& path, const std::string& temporary) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(temporary.c_str(), &raw, SQLITE_OPEN_READWRITE, "unix-none");
  const Database database(raw);
  const bool filled = opened == SQLITE_OK &&
                      sqlite3_exec(raw, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr, nullptr,
                                   nullptr) == SQLITE_OK &&
                      Fill(raw, table);
  return filled ? absl::OkStatus() : Failed(path, raw);
}

// The bytes of the database, made in memory.
absl::Status WriteBytes(const ResultTable& table, const std::string& path, OutputFile& file) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const Database database(raw);
  if (opened != SQLITE_OK || !Fill(raw, table)) return Failed(path, raw);
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, FreeBytes> bytes(sqlite3_serialize(raw, "main", &size, 0));
  if (bytes == nullptr) {
    return absl::UnavailableError(absl::StrCat(path,
                                               ": the database does not fit into memory as one piece, as what is "
                                               "no regular file needs; name a regular file"));
  }
  return file.WriteBytes(std::string_view(reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)));
}

}  // namespace

absl::Status WriteSqlite(const ResultTable& table, const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  // SQLite writes only to files that it may seek in; a pipe gets what such a file would hold.
  absl::Status status =
      file.temporary().empty() ? WriteBytes(table, path, file) : FillTemporary(table, path, file.temporary());
  if (status.ok()) status = file.Commit();
  return status;
}

}  // namespace heddle::tools::sweep

#else

namespace heddle::tools::sweep {

absl::Status WriteSqlite(const ResultTable&, const std::string&) {
  return absl::UnimplementedError(
      "--sqlite: this program was built without SQLite (install libsqlite3-dev, build again)");
}

}  // namespace heddle::tools::sweep

#endif
