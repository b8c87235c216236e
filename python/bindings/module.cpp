// The module catena._core: its parts and how exceptions cross.

#include "binding.h"
#include "catena/core/errors.h"
#include "catena/core/outcome.h"
#include "catena/core/random.h"
#include "catena/core/version.h"

namespace catena::python {
namespace {

/// Misuse is a ValueError, a file that cannot be used catena.FileError (an OSError and a ValueError), a bug of ours a
/// RuntimeError.
void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const FileError& e) {
    PyErr_SetString(nb::module_::import_("catena.errors").attr("FileError").ptr(), e.what());
  } catch (const InputError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const InternalError& e) {
    PyErr_SetString(PyExc_RuntimeError, (std::string("this is a bug of ours, please report it: ") + e.what()).c_str());
  }
}

std::string advice_for(const std::string& outcome, const std::string& function) {
  const std::optional<Outcome> found = outcome_named(outcome);
  return found ? std::string(advice(*found, function)) : "";
}

}  // namespace
}  // namespace catena::python

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using namespace catena;
  m.doc() = "The compiled part of catena. Private: use the package catena.";
  nb::register_exception_translator(python::translate);
  m.def("version", [] { return std::string(version()); });
  m.def("advice", &python::advice_for, "outcome"_a, "function"_a,
        "What can be done about an outcome that is not ok, for who gives it.");
  m.def(
      "child_seed",
      [](std::uint64_t seed, const std::string& name, std::uint64_t index) {
        return Streams(seed).child(name, index).seed();
      },
      "seed"_a, "name"_a, "index"_a, "A seed of its own for a part of the work.");

  python::bind_simulate(m);
  python::bind_tasks(m);
  python::bind_train(m);
  python::bind_sample(m);
  python::bind_compose(m);
  python::bind_correct(m);
  python::bind_evaluate(m);
  python::bind_report(m);
}
