// The list of families, and how each is read from JSON.

#include <algorithm>
#include <cmath>

#include "catena/core/check.h"
#include "catena/prior/around.h"
#include "catena/prior/marginal.h"

namespace catena::prior {

namespace {

/// Reads the numbers of a factor; every setting that is left over is a mistake.
class Settings {
 public:
  explicit Settings(const nlohmann::json& json) : json_(json) {}
  double number(const char* name) { return number(name, std::numeric_limits<double>::quiet_NaN(), true); }
  double number(const char* name, double otherwise) { return number(name, otherwise, false); }
  const nlohmann::json& value(const char* name) {
    check::that(json_.contains(name), "prior", name, "missing", "given");
    known_.emplace_back(name);
    return json_[name];
  }
  void finish() {
    std::ranges::sort(known_);  // arguments are evaluated in any order; the sentence should not be
    for (const auto& [name, value] : json_.items()) {
      check::that(std::ranges::find(known_, name) != known_.end(), "prior", "setting", fmt::format("\"{}\"", name),
                  fmt::format("one of {}", fmt::join(known_, ", ")));
    }
  }

 private:
  double number(const char* name, double otherwise, bool required) {
    known_.emplace_back(name);
    if (!json_.contains(name)) {
      check::that(!required, "prior", name, "missing", "given");
      return otherwise;
    }
    check::that(json_[name].is_number(), "prior", name, json_[name].dump(), "a number");
    return json_[name].get<double>();
  }
  const nlohmann::json& json_;
  std::vector<std::string> known_;
};

template <class Read>
FactorPtr read(const nlohmann::json& json, Read make) {
  Settings settings(json);
  FactorPtr factor = make(settings);
  settings.finish();
  return factor;
}

template <class T>
T typed(const char* name, const nlohmann::json& value, std::string_view must_be) {
  try {
    return value.get<T>();
  } catch (const nlohmann::json::exception&) {
    check::fail("prior", name, value.dump(), must_be);
  }
}

}  // namespace

const Registry<FamilyEntry>& prior_families() {
  using Json = nlohmann::json;
  static const Registry<FamilyEntry> registry(
      "prior family",
      {
          {"normal", "mean, sd",
           [](const Json& json) {
             return read(json, [](Settings& s) { return normal(s.number("mean", 0), s.number("sd", 1)); });
           },
           [] { return normal(-1.5, 0.25); }},
          {"correlated_normal", "mean (a list), covariance (a list of rows)",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return correlated_normal(typed<std::vector<double>>("mean", s.value("mean"), "a list of numbers"),
                                        typed<std::vector<std::vector<double>>>("covariance", s.value("covariance"),
                                                                                "a list of rows of numbers"));
             });
           },
           [] { return correlated_normal({1, -2}, {{2, 0.6}, {0.6, 0.5}}); }},
          {"standard_normal", "size",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               const double size = s.number("size");
               check::that(size >= 1 && size <= 1000 && size == std::floor(size), "prior", "size", size,
                           "a whole number from 1 to 1000");
               return standard_normal(static_cast<std::size_t>(size));
             });
           },
           [] { return standard_normal(3); }},
          {"uniform", "low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) { return uniform(s.number("low"), s.number("high")); });
           },
           [] { return uniform(1, 3); }},
          {"log_normal", "log_mean, log_sd",
           [](const Json& json) {
             return read(json, [](Settings& s) { return log_normal(s.number("log_mean"), s.number("log_sd")); });
           },
           [] { return log_normal(0.5, 0.75); }},
          {"logit_normal", "location, scale, low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return logit_normal(s.number("location", 0), s.number("scale", 1), s.number("low", 0),
                                   s.number("high", 1));
             });
           },
           [] { return logit_normal(-0.5, 1.5, 1, 3); }},
          {"gamma", "shape, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return gamma(s.number("shape"), s.number("scale", 1)); });
           },
           [] { return gamma(2.5, 0.5); }},
          {"beta", "a, b, low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return beta(s.number("a"), s.number("b"), s.number("low", 0), s.number("high", 1));
             });
           },
           [] { return beta(2, 5, 0, 1); }},
          {"exponential", "rate",
           [](const Json& json) { return read(json, [](Settings& s) { return exponential(s.number("rate")); }); },
           [] { return exponential(3); }},
          {"half_normal", "sd",
           [](const Json& json) { return read(json, [](Settings& s) { return half_normal(s.number("sd")); }); },
           [] { return half_normal(2); }},
          {"truncated_normal", "mean, sd, low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return truncated_normal(s.number("mean"), s.number("sd"), s.number("low", -infinity),
                                       s.number("high", infinity));
             });
           },
           [] { return truncated_normal(1, 2, 0, 2.5); }},
          {"student_t", "df, location, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return student_t(s.number("df"), s.number("location", 0), s.number("scale", 1));
             });
           },
           [] { return student_t(3.5, -1, 2); }},
          {"cauchy", "location, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return cauchy(s.number("location", 0), s.number("scale", 1)); });
           },
           [] { return cauchy(1, 0.5); }},
          {"half_cauchy", "scale",
           [](const Json& json) { return read(json, [](Settings& s) { return half_cauchy(s.number("scale", 1)); }); },
           [] { return half_cauchy(2); }},
          {"laplace", "location, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return laplace(s.number("location", 0), s.number("scale", 1)); });
           },
           [] { return laplace(-1, 2); }},
          {"logistic", "location, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return logistic(s.number("location", 0), s.number("scale", 1)); });
           },
           [] { return logistic(2, 0.5); }},
          {"inverse_gamma", "shape, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return inverse_gamma(s.number("shape"), s.number("scale", 1)); });
           },
           [] { return inverse_gamma(3, 2); }},
          {"log_uniform", "low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) { return log_uniform(s.number("low"), s.number("high")); });
           },
           [] { return log_uniform(0.01, 10); }},
          {"weibull", "shape, scale",
           [](const Json& json) {
             return read(json, [](Settings& s) { return weibull(s.number("shape"), s.number("scale", 1)); });
           },
           [] { return weibull(1.5, 2); }},
          {"truncated", "base (a family with its settings, of one parameter), low, high",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               const Json& base = s.value("base");
               check::that(base.is_object() && base.contains("family") && base["family"].is_string(), "prior",
                           "base of truncated", base.dump(), "an object with \"family\" (a text)");
               Json rest = base;
               rest.erase("family");
               return truncated(prior_families().at("prior", base["family"].get<std::string>()).from_json(rest),
                                s.number("low", -infinity), s.number("high", infinity));
             });
           },
           [] { return truncated(student_t(4, 1, 2), -0.5, 6); }},
          {"dirichlet", "concentration (a list): parts of 1, of which the last follows from the others",
           [](const Json& json) {
             return read(json, [](Settings& s) {
               return dirichlet(
                   typed<std::vector<double>>("concentration", s.value("concentration"), "a list of numbers"));
             });
           },
           [] { return dirichlet({2, 3, 1.5}); }},
          {"fixed", "value: the simulator sees it, and nobody infers it",
           [](const Json& json) { return read(json, [](Settings& s) { return fixed(s.number("value")); }); },
           [] { return fixed(2.5); }},
          {"around",
           "base (a prior), mean (a list), lower (a list of rows): base with z ~ N(mean, lower lower'); or weights, "
           "means "
           "and lowers, of several normals",
           [](const Json& json) { return around_from_json(json); },
           [] {
             Prior base;
             base.add({"a"}, uniform(1, 3));
             base.add({"b"}, normal(2, 1));
             return around_factor({base,
                                   {{{0.3, Eigen::Vector2d(0.5, -1), Eigen::Matrix2d{{0.5, 0}, {0.2, 0.7}}},
                                     {0.7, Eigen::Vector2d(-0.6, 0.4), Eigen::Matrix2d{{0.6, 0}, {-0.3, 0.4}}}}}});
           }},
      });
  return registry;
}

}  // namespace catena::prior
