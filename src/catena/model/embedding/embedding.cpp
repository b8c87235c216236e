#include "catena/model/embedding/embedding.h"

namespace catena::model {

const Registry<EmbeddingKind>& embeddings() {
  static const Registry<EmbeddingKind> registry("embedding", {gru_embedding(), windows_embedding()});
  return registry;
}

}  // namespace catena::model
