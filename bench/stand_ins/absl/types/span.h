// What the programs of networks-minimal use of Abseil's span.
#pragma once
#include <cstddef>
#include <vector>

namespace absl {

template <class T> class Span {
public:
  Span(T *data, size_t size) : data_(data), size_(size) {}
  template <class C> Span(C &values) : data_(values.data()), size_(values.size()) {}
  T *data() const { return data_; }
  size_t size() const { return size_; }
  T &operator[](size_t at) const { return data_[at]; }

private:
  T *data_;
  size_t size_;
};

} // namespace absl
