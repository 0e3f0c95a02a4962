// Limits of the trace format. A writer keeps them, a reader checks them before it allocates.
#ifndef HEDDLE_TRACES_FORMAT_LIMITS_H_
#define HEDDLE_TRACES_FORMAT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 9;  // newest that a header is given; the index names what 1.3 added
// Of files with certificates, or whose launches had several blocks alive at once.
inline constexpr uint32_t kCertificateMinorVersion = 6;
// Of files with programs that came as PTX text.
inline constexpr uint32_t kGivenCodeMinorVersion = 7;
// Of files with instructions that are collective or asynchronous, clusters, launches from kernels, or graphs.
inline constexpr uint32_t kCollectiveMinorVersion = 8;
// Of files with programs of machine code.
inline constexpr uint32_t kMachineMinorVersion = 9;
// What a writer calls its files unless their header asks for a newer one: nothing later is needed to read them.
inline constexpr uint32_t kUsualMinorVersion = 1;

// Named in FileHeader.required_feature of files whose chunks use what version 1.1 added.
inline constexpr char kChunkFeature[] = "chunks-1.1";
// Named in Index.required_feature of files with a chunk that uses what version 1.3 added.
inline constexpr char kLaterChunkFeature[] = "chunks-1.3";
// Likewise for what version 1.5 added.
inline constexpr char kColumnFeature[] = "columns-1.5";
// Likewise of files with a column of an operand that is not a memory instruction's one address.
inline constexpr char kOperandFeature[] = "operands-1.8";
// Likewise of files with a program that has barriers of clusters, or barriers at which not all threads wait.
inline constexpr char kBarrierFeature[] = "barriers-1.8";

// A writer closes a chunk at the first of these. A chunk may pass them by what one step of the writer adds; a reader
// accepts up to the kMax values.
inline constexpr uint64_t kChunkThreadInstructions = 1u << 20;
inline constexpr uint64_t kChunkAccesses = 512u << 10;
inline constexpr uint64_t kChunkBytes = 8u << 20;  // encoded
// Parts of a block that are joined (WriterOptions::join_parts) reach up to these: of threads that do little but branch,
// so few bytes are left that the tables of Zstandard and the counts of every part make a tenth of them.
inline constexpr uint64_t kJoinedThreadInstructions = 4u << 20;
inline constexpr uint64_t kJoinedBytes = 128u << 10;

// Above what any capture has written, and low enough that a hostile file takes less than 64 MB and a tenth of a second
// before it is refused: twice the largest chunk that capture makes of whole blocks (a chunk that is almost full and a
// block that almost is one).
inline constexpr uint64_t kMaxRecordBytes = 20u << 20;  // decompressed frame
inline constexpr int kMaxWindowLog = 27;                // Zstandard window: 2^27 bytes
inline constexpr uint64_t kMaxChunkThreads = 1u << 20;
inline constexpr uint64_t kMaxChunkPaths = 1u << 18;  // distinct ones
inline constexpr uint64_t kMaxChunkThreadInstructions = 8u << 20;
inline constexpr uint64_t kMaxChunkAccesses = 2u << 20;
// Of a chunk with columns of model COUNTED, for which sums, restarts and residuals are kept beside the addresses.
inline constexpr uint64_t kMaxCountedAccesses = 1u << 20;
inline constexpr uint32_t kMaxThreadsPerBlock = 1024;

inline constexpr uint64_t kMaxFrames = 1u << 20;
inline constexpr uint64_t kMaxPrograms = 1u << 12;
inline constexpr uint64_t kMaxLaunches = 1u << 17;
inline constexpr uint64_t kMaxOtherRecords = 1u << 17;  // transfers, certificates and annotations

// Bytes of a name (of a kernel, function, file, allocation, ...) and of a text in sentences (notes, command lines).
// What a compiler demangles of nested templates takes some thousands.
inline constexpr size_t kMaxNameBytes = 1u << 16;
inline constexpr size_t kMaxNoteBytes = 1u << 20;

// Memory of parsed records: of one record, and of all records but chunks together. The latter grows with the file,
// because honest small records take some times as much in memory as in the file; no factor of a thousand is honest.
inline constexpr uint64_t kMaxParsedBytes = 36u << 20;
inline constexpr uint64_t kMaxContentsBytes = 32u << 20;
inline constexpr uint64_t kMaxContentsBytesPerFileByte = 4;

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_LIMITS_H_
