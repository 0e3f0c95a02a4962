#include "tools/exchange/corpus/crate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/console/digest.h"
#include "tools/exchange/corpus/bag.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kContext[] = "https://w3id.org/ro/crate/1.2/context";
constexpr char kSpecification[] = "https://w3id.org/ro/crate/1.2";
constexpr char kTraceType[] = "application/vnd.heddle.trace";

Json Reference(const std::string& id) { return {{"@id", id}}; }

// A member that is a text; empty if it is not there or something else.
std::string TextOf(const Json& entity, const char* member) {
  const auto it = entity.find(member);
  return it != entity.end() && it->is_string() ? it->get<std::string>() : "";
}

// The "@id" that a member refers to.
std::string ReferenceOf(const Json& entity, const char* member) {
  const auto it = entity.find(member);
  return it != entity.end() && it->is_object() ? TextOf(*it, "@id") : "";
}

bool HasType(const Json& entity, const char* type) {
  const auto it = entity.find("@type");
  if (it == entity.end()) return false;
  if (it->is_array()) return std::find(it->begin(), it->end(), type) != it->end();
  return *it == type;
}

std::string MediaType(const std::string& path) {
  static const std::map<std::string, std::string> kTypes = {
      {".htrace", kTraceType},      {".cu", "text/x-cuda"},
      {".cl", "text/x-opencl"},     {".bc", "application/octet-stream"},
      {".textproto", "text/plain"}, {".h", "text/x-c"},
      {".cc", "text/x-c++"},        {".cpp", "text/x-c++"},
      {".md", "text/markdown"},     {".json", "application/json"}};
  const auto it = kTypes.find(fs::path(path).extension().string());
  return it == kTypes.end() ? "text/plain" : it->second;
}

// An identifier within the crate; what would have to be encoded in an address becomes '-'.
std::string LocalId(const std::string& text) {
  std::string id = "#" + text;
  for (size_t i = 1; i < id.size(); ++i) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(id[i])) &&
        std::string_view("._-+/").find(id[i]) == std::string_view::npos) {
      id[i] = '-';
    }
  }
  return id;
}

std::string ActionId(const std::string& path) { return LocalId("capture-" + path); }
std::string PropertyId(const std::string& path, const std::string& name) { return LocalId(path + "-" + name); }

std::string Dimensions(const trace::v1::Dim3& size) { return absl::StrCat(size.x(), "x", size.y(), "x", size.z()); }

// What a recording says about itself, as names and values.
std::vector<std::pair<std::string, Json>> Properties(const trace::TraceReader& trace) {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t instructions = 0;
  std::vector<std::string> kernels;
  std::vector<std::string> geometry;
  for (const trace::LaunchView& launch : trace.launches()) {
    if (!launch.launch.recorded()) continue;
    ++launches;
    blocks += launch.totals.blocks();
    threads += launch.totals.blocks() * launch.threads_per_block;
    instructions += launch.totals.thread_instructions();
    const std::string& name = launch.program->name();
    if (std::ranges::find(kernels, name) == kernels.end()) kernels.push_back(name);
    const std::string size =
        absl::StrCat(name, " grid ", Dimensions(launch.launch.grid()), " block ", Dimensions(launch.launch.block()));
    if (geometry.empty() || geometry.back() != size) geometry.push_back(size);
  }
  const trace::v1::FileHeader& header = trace.header();
  std::vector<std::pair<std::string, Json>> properties = {{"digest", trace.digest()},
                                                          {"producer", header.producer()},
                                                          {"compiler", header.compiler()},
                                                          {"optimization", header.optimization()},
                                                          {"target", header.target()},
                                                          {"abstraction level", header.abstraction_level()},
                                                          {"kernels", absl::StrJoin(kernels, " ")},
                                                          {"geometry", absl::StrJoin(geometry, "; ")},
                                                          {"launches", launches},
                                                          {"blocks", blocks},
                                                          {"threads", threads},
                                                          {"thread-instructions", instructions}};
  if (!header.command_line().empty()) properties.emplace_back("command line", header.command_line());
  // Launches that were recorded again in other orders of their threads, and what that changed.
  uint64_t certified = 0;
  uint64_t runs = 0;
  uint64_t changed = 0;
  for (const trace::v1::Certificate& certificate : trace.certificates()) {
    certified += certificate.runs() != 0;
    runs += certificate.runs();
    changed += static_cast<uint64_t>(certificate.instruction_size());
  }
  if (certified != 0) {
    properties.emplace_back("certified launches", certified);
    properties.emplace_back("certificate runs", runs);
    properties.emplace_back("instructions that depend on the order of threads", changed);
  }
  const std::map<std::string, std::string> provenance(header.provenance().begin(), header.provenance().end());
  for (const auto& [key, value] : provenance) properties.emplace_back(absl::StrCat("provenance ", key), value);
  return properties;
}

}  // namespace

std::string LicenseId(const std::string& license) {
  const bool address = license.find("://") != std::string::npos;
  return address ? license : absl::StrCat("https://spdx.org/licenses/", license);
}

Json* Crate::Find(std::string_view id) {
  for (Json& entity : graph_) {
    if (entity.at("@id").get_ref<const std::string&>() == id) return &entity;
  }
  return nullptr;
}

const Json* Crate::Find(std::string_view id) const { return const_cast<Crate*>(this)->Find(id); }

Json& Crate::Entity(const std::string& id) {
  if (Json* there = Find(id); there != nullptr) return *there;
  graph_.push_back({{"@id", id}});
  return graph_.back();
}

void Crate::AddLicense(const std::string& id) {
  if (Find(id) != nullptr) return;
  const std::string name = id.substr(id.rfind('/') + 1);
  graph_.push_back({{"@id", id},
                    {"@type", "CreativeWork"},
                    {"name", name.empty() ? id : name},
                    {"description", absl::StrCat("Licence ", name.empty() ? id : name)}});
}

void Crate::AddReference(Json& entity, const char* member, const std::string& id) {
  Json& list = entity[member];
  if (!list.is_array()) list = Json::array();
  for (const Json& there : list) {
    if (TextOf(there, "@id") == id) return;
  }
  list.push_back(Reference(id));
}

Crate Crate::Create(const About& about) {
  Crate crate;
  const std::string license = LicenseId(about.license);
  crate.graph_.push_back({{"@id", kMetadataFile},
                          {"@type", "CreativeWork"},
                          {"about", Reference("./")},
                          {"conformsTo", Reference(kSpecification)}});
  crate.graph_.push_back({{"@id", "./"},
                          {"@type", "Dataset"},
                          {"name", about.name},
                          {"description", about.description},
                          {"datePublished", about.date},
                          {"license", Reference(license)},
                          {"author", Reference("#author")},
                          {"hasPart", Json::array()},
                          {"mentions", Json::array()}});
  crate.graph_.push_back({{"@id", "#author"}, {"@type", "Person"}, {"name", about.author}});
  crate.AddLicense(license);
  return crate;
}

absl::StatusOr<Crate> Crate::Parse(const std::string& text) {
  const auto refuse = [](const std::string& what) {
    return absl::DataLossError(absl::StrCat("data/", kMetadataFile, ": ", what));
  };
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("@graph") || !json["@graph"].is_array()) return refuse("is no RO-Crate");
  if (json.value("@context", Json()) != kContext)
    return refuse(absl::StrCat("is no RO-Crate 1.2: its context is not ", kContext));
  Crate crate;
  crate.graph_ = std::move(json["@graph"]);
  std::set<std::string> ids;
  for (const Json& entity : crate.graph_) {
    const std::string id = entity.is_object() ? TextOf(entity, "@id") : "";
    if (id.empty()) return refuse("has an entity without \"@id\"");
    if (!ids.insert(id).second) return refuse(absl::StrCat("describes \"", id, "\" twice"));
    if (!HasType(entity, "File")) continue;
    if (absl::Status status = CheckPath(id); !status.ok()) return refuse(std::string(status.message()));
  }
  const Json* metadata = crate.Find(kMetadataFile);
  const Json* root = crate.Find("./");
  if (metadata == nullptr || ReferenceOf(*metadata, "conformsTo") != kSpecification) {
    return refuse(absl::StrCat("does not say that it conforms to ", kSpecification));
  }
  if (root == nullptr || !HasType(*root, "Dataset")) return refuse("has no root data set \"./\"");
  return crate;
}

std::string Crate::Text() const {
  // The description of the file itself and the data set come first, as is the custom.
  const auto rank = [](const std::string& id) { return id == kMetadataFile ? 0 : id == "./" ? 1 : 2; };
  std::vector<Json> entities(graph_.begin(), graph_.end());
  std::ranges::sort(entities, {}, [&rank](const Json& entity) {
    std::string id = TextOf(entity, "@id");
    return std::pair(rank(id), std::move(id));
  });
  for (Json& entity : entities) {
    for (const char* member : {"hasPart", "mentions"}) {
      const auto list = entity.find(member);
      if (list == entity.end() || !list->is_array()) continue;
      std::vector<Json> references(list->begin(), list->end());
      std::ranges::sort(references, {}, [](const Json& reference) { return TextOf(reference, "@id"); });
      *list = references;
    }
  }
  return Json({{"@context", kContext}, {"@graph", entities}}).dump(1) + "\n";
}

std::string Crate::name() const { return TextOf(*Find("./"), "name"); }
std::string Crate::license() const { return ReferenceOf(*Find("./"), "license"); }

void Crate::SetFile(const std::string& path, uint64_t bytes, const std::string& sha256, const std::string& license) {
  const std::string id = license.empty() ? this->license() : LicenseId(license);
  AddLicense(id);
  AddReference(*Find("./"), "hasPart", path);
  Json& file = Entity(path);
  file["@type"] = "File";
  file["name"] = fs::path(path).filename().string();
  file["encodingFormat"] = MediaType(path);
  file["contentSize"] = absl::StrCat(bytes);
  file["sha256"] = sha256;
  file["license"] = Reference(id);
}

void Crate::SetTrace(const std::string& path, const trace::TraceReader& trace, const std::string& recipe,
                     const std::vector<std::string>& sources) {
  RemoveRecording(path);  // what an earlier trace of this name had said of itself
  const std::string producer = trace.header().producer();
  const std::string instrument = LocalId("producer-" + producer);
  Json& program = Entity(instrument);
  program["@type"] = "SoftwareApplication";
  program["name"] = producer;
  program["softwareVersion"] = producer.substr(producer.rfind(' ') + 1);
  program["softwareRequirements"] = trace.header().compiler();

  const std::string id = ActionId(path);
  AddReference(*Find("./"), "mentions", id);
  Json objects = Json::array();
  for (const std::string& source : sources) objects.push_back(Reference(source));
  Json properties = Json::array();
  for (auto& [name, value] : Properties(trace)) {
    const std::string property_id = PropertyId(path, name);
    Json& property = Entity(property_id);
    property["@type"] = "PropertyValue";
    property["name"] = name;
    property["value"] = std::move(value);
    properties.push_back(Reference(property_id));
  }
  objects.insert(objects.end(), properties.begin(), properties.end());
  Json& action = Entity(id);
  action["@type"] = "CreateAction";
  action["name"] = absl::StrCat("recording of ", fs::path(path).filename().string());
  action["instrument"] = Reference(instrument);
  action["object"] = std::move(objects);
  action["result"] = Json::array({Reference(path)});
  action["description"] = recipe.empty() ? "no recipe" : absl::StrCat("heddle capture -o ", path, " ", recipe);
  action["actionStatus"] = Reference("http://schema.org/CompletedActionStatus");
  (*Find(path))["variableMeasured"] = std::move(properties);
}

std::vector<DescribedTrace> Crate::Traces() const {
  std::vector<DescribedTrace> traces;
  for (const Json& entity : graph_) {
    if (!HasType(entity, "File") || TextOf(entity, "encodingFormat") != kTraceType) continue;
    DescribedTrace trace;
    trace.path = TextOf(entity, "@id");
    trace.license = ReferenceOf(entity, "license");
    const auto value = [&](const char* name) -> const Json* {
      const Json* property = Find(PropertyId(trace.path, name));
      return property == nullptr || !property->contains("value") ? nullptr : &property->at("value");
    };
    const auto number = [&](const char* name) {
      const Json* found = value(name);
      return found != nullptr && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
    };
    if (const Json* digest = value("digest"); digest != nullptr && digest->is_string())
      trace.digest = digest->get<std::string>();
    if (const Json* kernels = value("kernels"); kernels != nullptr && kernels->is_string())
      trace.kernels = kernels->get<std::string>();
    trace.launches = number("launches");
    trace.threads = number("threads");
    trace.thread_instructions = number("thread-instructions");
    if (const Json* action = Find(ActionId(trace.path)); action != nullptr) {
      const std::string command = TextOf(*action, "description");
      const std::string before = absl::StrCat("heddle capture -o ", trace.path, " ");
      if (command.starts_with(before)) trace.recipe = command.substr(before.size());
    }
    traces.push_back(std::move(trace));
  }
  std::ranges::sort(traces, {}, &DescribedTrace::path);
  return traces;
}

std::vector<std::string> Crate::FilesBelow(const std::string& folder) const {
  std::vector<std::string> files;
  for (const Json& entity : graph_) {
    std::string id = TextOf(entity, "@id");
    if (HasType(entity, "File") && id.starts_with(folder + "/")) files.push_back(std::move(id));
  }
  std::ranges::sort(files);
  return files;
}

std::string Crate::FileDigest(const std::string& path) const {
  const Json* file = Find(path);
  return file == nullptr ? "" : TextOf(*file, "sha256");
}

void Crate::RemoveFile(const std::string& path) {
  RemoveRecording(path);
  RemoveReference(*Find("./"), "hasPart", path);
  RemoveEntity(path);
}

void Crate::RemoveRecording(const std::string& path) {
  const Json* file = Find(path);
  if (file == nullptr || !file->contains("variableMeasured")) return;
  std::vector<std::string> properties;
  for (const Json& reference : file->at("variableMeasured")) properties.push_back(TextOf(reference, "@id"));
  for (const std::string& property : properties) RemoveEntity(property);
  RemoveReference(*Find("./"), "mentions", ActionId(path));
  RemoveEntity(ActionId(path));
}

void Crate::RemoveEntity(const std::string& id) {
  for (auto it = graph_.begin(); it != graph_.end(); ++it) {
    if (TextOf(*it, "@id") != id) continue;
    graph_.erase(it);
    return;
  }
}

void Crate::RemoveReference(Json& entity, const char* member, const std::string& id) {
  const auto list = entity.find(member);
  if (list == entity.end() || !list->is_array()) return;
  Json kept = Json::array();
  for (const Json& reference : *list) {
    if (TextOf(reference, "@id") != id) kept.push_back(reference);
  }
  *list = std::move(kept);
}

std::string Crate::FileLicense(const std::string& path) const {
  const Json* file = Find(path);
  return file == nullptr ? "" : ReferenceOf(*file, "license");
}

std::vector<std::string> Crate::Check(const std::string& folder, const std::vector<std::string>& files) const {
  std::vector<std::string> problems;
  if (license().empty()) problems.push_back("the corpus as a whole has no licence");
  for (const char* member : {"name", "description", "datePublished"}) {
    if (TextOf(*Find("./"), member).empty()) problems.push_back(absl::StrCat("the corpus has no ", member));
  }
  const std::set<std::string> there(files.begin(), files.end());
  for (const std::string& file : files) {
    if (file == kMetadataFile) continue;
    const Json* entity = Find(file);
    if (entity == nullptr || !HasType(*entity, "File")) {
      problems.push_back(absl::StrCat(file, ": is not described; `heddle corpus add` does that"));
      continue;
    }
    const std::string id = ReferenceOf(*entity, "license");
    if (id.empty() || Find(id) == nullptr) problems.push_back(absl::StrCat(file, ": has no licence"));
    std::error_code error;
    if (TextOf(*entity, "contentSize") != absl::StrCat(fs::file_size(fs::path(folder) / file, error))) {
      problems.push_back(absl::StrCat(file, ": has another size than it is described with"));
    } else if (const auto digest = Sha256OfFile((fs::path(folder) / file).string());
               !digest.ok() || TextOf(*entity, "sha256") != *digest) {
      problems.push_back(absl::StrCat(file, ": has another SHA-256 than it is described with"));
    }
  }
  for (const Json& entity : graph_) {
    const std::string id = TextOf(entity, "@id");
    if (HasType(entity, "File") && !there.contains(id)) {
      problems.push_back(absl::StrCat(id, ": is described, but not there"));
    }
  }
  return problems;
}

}  // namespace heddle::tools::corpus
