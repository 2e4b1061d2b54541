// What NASNet's program in networks-minimal uses of cuDNN: pooling of float tensors with the channels
// before rows and columns, by a kernel that computes an element a thread.
#pragma once
#include <cuda_runtime.h>

enum cudnnStatus_t { CUDNN_STATUS_SUCCESS, CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_EXECUTION_FAILED };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW };
enum cudnnDataType_t { CUDNN_DATA_FLOAT };
enum cudnnNanPropagation_t { CUDNN_NOT_PROPAGATE_NAN };
enum cudnnPoolingMode_t { CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING };

// There is nothing to keep between calls.
typedef struct cudnnContext {
} *cudnnHandle_t;

typedef struct cudnnTensorStruct {
  int images, channels, rows, columns;
} *cudnnTensorDescriptor_t;

typedef struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode;
  int rows, columns, above, left, down, across;
} *cudnnPoolingDescriptor_t;

inline const char *cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "success" : "the pooling failed";
}

template <class T> inline cudnnStatus_t stand_in_made(T **place) {
  *place = new T();
  return CUDNN_STATUS_SUCCESS;
}

template <class T> inline cudnnStatus_t stand_in_ended(T *what) {
  delete what;
  return CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) { return stand_in_made(handle); }
inline cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return stand_in_ended(handle); }
inline cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor) { return stand_in_made(tensor); }
inline cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) { return stand_in_ended(tensor); }
inline cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t *pooling) { return stand_in_made(pooling); }
inline cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t pooling) { return stand_in_ended(pooling); }

inline cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t, cudnnDataType_t,
                                                int images, int channels, int rows, int columns) {
  *tensor = {images, channels, rows, columns};
  return CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t pooling, cudnnPoolingMode_t mode,
                                                 cudnnNanPropagation_t, int rows, int columns, int above, int left,
                                                 int down, int across) {
  *pooling = {mode, rows, columns, above, left, down, across};
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
__global__ void stand_in_pooling(cudnnPoolingStruct pooling, cudnnTensorStruct from, cudnnTensorStruct to, const T *in,
                                 T *out, T alpha, T beta) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= to.images * to.channels * to.rows * to.columns)
    return;
  int column = place % to.columns, row = place / to.columns % to.rows, plane = place / (to.columns * to.rows);
  T sum = 0, most = 0;
  int count = 0;
  for (int r = 0; r < pooling.rows; ++r) {
    for (int c = 0; c < pooling.columns; ++c) {
      int y = row * pooling.down + r - pooling.above, x = column * pooling.across + c - pooling.left;
      if (y < 0 || y >= from.rows || x < 0 || x >= from.columns)
        continue;
      T value = in[(plane * from.rows + y) * from.columns + x];
      most = count == 0 || value > most ? value : most;
      sum += value, ++count;
    }
  }
  T result = pooling.mode == CUDNN_POOLING_MAX ? most : sum / T(count);
  out[place] = beta == 0 ? alpha * result : alpha * result + beta * out[place];
}

inline cudnnStatus_t cudnnPoolingForward(cudnnHandle_t, cudnnPoolingDescriptor_t pooling, const void *alpha,
                                         cudnnTensorDescriptor_t from, const void *in, const void *beta,
                                         cudnnTensorDescriptor_t to, void *out) {
  if (from->images != to->images || from->channels != to->channels)
    return CUDNN_STATUS_BAD_PARAM;
  const int threads = 256, count = to->images * to->channels * to->rows * to->columns;
  stand_in_pooling<float><<<(count + threads - 1) / threads, threads>>>(
      *pooling, *from, *to, (const float *)in, (float *)out, *(const float *)alpha, *(const float *)beta);
  return cudaPeekAtLastError() == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
