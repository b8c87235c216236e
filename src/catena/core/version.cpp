#include "catena/core/version.h"

namespace catena {

std::string_view version() { return CATENA_VERSION; }

}  // namespace catena
