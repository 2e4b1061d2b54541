/*
 * Declarations of NVRTC for machines whose toolkit comes without it: NVIDIA's own header, where there is
 * one, is found first. What stands here is what the CPU device implements; names, values and types are
 * those of NVIDIA's manual.
 */
#ifndef SIRIUS_NVRTC_H
#define SIRIUS_NVRTC_H

/* By this, programs and other headers know that it is there. */
#define __NVRTC_H__

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
  NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12,
  NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
  NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14,
  NVRTC_ERROR_PCH_CREATE = 15,
  NVRTC_ERROR_CANCELLED = 16,
  NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

const char *nvrtcGetErrorString(nvrtcResult status);
nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcGetNumSupportedArchs(int *count);
nvrtcResult nvrtcGetSupportedArchs(int *list);

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headerCount,
                               const char *const *headers, const char *const *includeNames);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name);

#ifdef __cplusplus
}

#if !defined(_MSC_VER)
#include <cxxabi.h>
#include <string>
#include <typeinfo>

template <typename T>
class __nvrtcGetTypeName_helper_t {};

inline nvrtcResult nvrtcGetTypeName(const std::type_info &type, std::string *name) {
  int status = 0;
  char *written = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  if (status != 0) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  *name = written;
  free(written);
  return NVRTC_SUCCESS;
}

/* typeid drops references and qualifiers of what it is given itself, but not of a template's argument. */
template <typename T>
inline nvrtcResult nvrtcGetTypeName(std::string *name) {
  std::string whole;
  nvrtcResult status = nvrtcGetTypeName(typeid(__nvrtcGetTypeName_helper_t<T>), &whole);
  if (status != NVRTC_SUCCESS) {
    return status;
  }
  const size_t begin = whole.find('<') + 1;
  size_t end = whole.rfind('>');
  while (end > begin && whole[end - 1] == ' ') {
    --end;
  }
  *name = whole.substr(begin, end - begin);
  return NVRTC_SUCCESS;
}
#endif
#endif

#endif
