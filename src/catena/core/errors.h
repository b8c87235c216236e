/// The exception types. Misuse and broken files are the caller's (exit code 2, ValueError in Python); InternalError is
/// ours (exit code 70). A numerical failure is no exception at all but a value: see outcome.h.
#pragma once

#include <stdexcept>
#include <string>

namespace catena {

/// The caller gave something that cannot be used. what() is one sentence: "train: learning_rate is -0.1, but must be
/// positive".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read, does not hold what it should, or cannot be written.
class FileError : public InputError {
 public:
  using InputError::InputError;
};

/// A mistake in catena itself: something that no input should be able to cause.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The user pressed Ctrl-C (or asked for a stop through Progress). Every file is whole when this arrives.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace catena
