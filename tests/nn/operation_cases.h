/// One or more cases per operation of the registry: shapes, and the operation itself written down again, slowly, in
/// complex doubles. The complex step (Squire and Trapp 1998) gives its derivatives without rounding error.
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "catena/nn/graph.h"

namespace catena::nn::testing {

using Z = std::complex<double>;
using ZBlock = std::vector<std::vector<Z>>;  // [feature][lane]

struct Operands {
  std::vector<ZBlock> inputs;
  std::vector<std::vector<Z>> parameters;
  Attributes attributes;
  std::size_t lanes;  // of the block
};

struct InputShape {
  Shape shape;
  Lanes lanes = Lanes::each();
};

struct OperationCase {
  std::string operation;
  std::vector<InputShape> inputs;
  std::vector<ParameterInfo> parameters;
  Attributes attributes;
  std::function<ZBlock(const Operands&)> reference;
  bool positive_inputs = false;  // for the logarithm
};

/// All cases; those of shapes with places, and of series, stand in a file of their own.
std::vector<OperationCase> operation_cases();
std::vector<OperationCase> place_cases();

}  // namespace catena::nn::testing
