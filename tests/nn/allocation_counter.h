#pragma once

/// Allocations of this program so far; counted in allocation_counter_test.cpp.
long allocation_count();
