#include "catena/tasks/parts/make.h"

#include "catena/prior/prior.h"

namespace catena::tasks::parts {

namespace {

nlohmann::json fixed_proposal(std::size_t states, const prior::FactorPtr& factor, std::size_t times) {
  prior::Prior distribution;
  for (const std::string& name : simulate::numbered_names("x", states)) distribution.add({name}, factor);
  nlohmann::json json = {{"proposal", "fixed"}, {"states", distribution.to_json()}};
  if (times > 0) json["times"] = times;
  return json;
}

}  // namespace

nlohmann::json normal_proposal(std::size_t states, double sd, std::size_t times) {
  return fixed_proposal(states, prior::normal(0, sd), times);
}

nlohmann::json uniform_proposal(std::size_t states, double low, double high) {
  return fixed_proposal(states, prior::uniform(low, high), 0);
}

prior::Prior rates_between(const std::vector<std::string>& names, double least, double range) {
  prior::Prior prior;
  for (const std::string& name : names) prior.add({name}, prior::logit_normal(0, 1, least, least + range));
  return prior;
}

}  // namespace catena::tasks::parts
