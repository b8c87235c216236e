/// Workspaces for calls that come from many threads: each call borrows one. One lock per call, not per sample.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "catena/nn/execute.h"

namespace catena::nn {

class WorkspacePool {
 public:
  /// `graph` must outlive the pool.
  WorkspacePool(const Graph& graph, std::size_t lanes, Purpose purpose)
      : graph_(graph), lanes_(lanes), purpose_(std::move(purpose)) {}

  class Loan {
   public:
    Loan(WorkspacePool& pool, std::unique_ptr<Workspace> workspace) : pool_(pool), workspace_(std::move(workspace)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(workspace_));
    }
    Workspace& operator*() const { return *workspace_; }
    Workspace* operator->() const { return workspace_.get(); }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
  };

  Loan borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto workspace = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(workspace)};
      }
    }
    return {*this, std::make_unique<Workspace>(graph_, lanes_, purpose_)};
  }

 private:
  const Graph& graph_;
  std::size_t lanes_;
  Purpose purpose_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace catena::nn
